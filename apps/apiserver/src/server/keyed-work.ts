import type { Clock, Timer } from '@tinkernetes/component-base';

/** As upstream retries what fails: from 5 ms, twice as long each time, to 30 s. */
const backOffMs = { first: 5, most: 30_000 };

interface KeyState {
  running: boolean;
  again: boolean;
  failures: number;
  timer: Timer | undefined;
}

/** Work by key: never twice at once for a key, once more when it was asked for meanwhile, and again after it failed. */
export class KeyedWork {
  private readonly keys = new Map<string, KeyState>();
  private stopped = false;
  private readonly running = new Set<Promise<void>>();

  constructor(
    private readonly clock: Clock,
    private readonly work: (key: string) => Promise<void>,
  ) {}

  add(key: string): void {
    if (this.stopped) return;
    const state = this.keys.get(key) ?? { running: false, again: false, failures: 0, timer: undefined };
    this.keys.set(key, state);
    if (state.running) {
      state.again = true;
      return;
    }
    state.timer?.cancel();
    state.timer = undefined;
    state.running = true;
    const run = this.run(key, state).finally(() => this.running.delete(run));
    this.running.add(run);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    for (const { timer } of this.keys.values()) timer?.cancel();
    await Promise.all(this.running);
  }

  private async run(key: string, state: KeyState): Promise<void> {
    const failed = await this.work(key).then(
      () => false,
      () => true,
    );
    state.running = false;
    state.failures = failed ? state.failures + 1 : 0;
    if (this.stopped) return;
    if (state.again) {
      state.again = false;
      this.add(key);
    } else if (failed) {
      const delay = Math.min(backOffMs.first * 2 ** (state.failures - 1), backOffMs.most);
      state.timer = this.clock.setTimeout(() => this.add(key), delay, { unref: true });
    } else this.keys.delete(key);
  }
}

import type { Clock, Logger, Timer } from '@tinkernetes/component-base';

export interface SyncRunnerOptions {
  sync: () => Promise<void>;
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
  /** Syncs are at least so far apart; requests in between are answered by one. */
  minIntervalMs: number;
  /** One is made after so long without a request. */
  maxIntervalMs: number;
}

/** Runs `sync` on request, never twice at once, not too often and not too seldom. A failure is tried again. */
export class SyncRunner {
  private requested = false;
  private running: Promise<void> | undefined;
  private timer: Timer | undefined;
  private lastAt = -Infinity;

  constructor(private readonly options: SyncRunnerOptions) {
    options.signal.addEventListener('abort', () => this.timer?.cancel(), { once: true });
  }

  request(): void {
    if (this.requested || this.options.signal.aborted) return;
    this.requested = true;
    if (!this.running) this.schedule();
  }

  /** Resolves when the sync that runs, if any, has ended. */
  async idle(): Promise<void> {
    await this.running;
  }

  private schedule(): void {
    const { clock, minIntervalMs, maxIntervalMs, signal } = this.options;
    this.timer?.cancel();
    if (signal.aborted) return;
    const since = clock.monotonic() - this.lastAt;
    const wait = this.requested ? Math.max(0, minIntervalMs - since) : maxIntervalMs;
    this.timer = clock.setTimeout(() => {
      this.running = this.run();
    }, wait);
  }

  private async run(): Promise<void> {
    const { clock, logger, signal } = this.options;
    this.requested = false;
    this.lastAt = clock.monotonic();
    try {
      await this.options.sync();
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error }, 'could not write the rules, trying again');
      this.requested = true;
    }
    this.running = undefined;
    this.schedule();
  }
}

import type { Clock } from '@tinkernetes/component-base';
import { mergeRevisions, type RateLimitingQueue } from '@tinkernetes/workqueue';

/** A leader that is gone was missed for less than this: what others saw before, it has put into the queues itself. */
const rememberedMs = 5 * 60_000;

export interface Gate {
  clock: Clock;
  mayAdd(): boolean;
  /** What the worker of a key that is added now must have seen. */
  seen(): string | undefined;
}

/** A queue to which not everybody may add: what is refused is remembered for as long as the leader may have missed it. */
export class GatedQueue implements RateLimitingQueue {
  /** Key → what must have been seen; of this period and of the one before. */
  private recent = new Map<string, string | undefined>();
  private before = new Map<string, string | undefined>();
  private since: number;

  constructor(
    private readonly queue: RateLimitingQueue,
    private readonly gate: Gate,
  ) {
    this.since = gate.clock.monotonic();
  }

  get length(): number {
    return this.queue.length;
  }

  add(key: string): void {
    const seen = this.gate.seen();
    if (this.gate.mayAdd()) this.queue.add(key, seen);
    else this.remember(key, seen);
  }

  addAfter(key: string, ms: number): void {
    const seen = this.gate.seen();
    if (this.gate.mayAdd()) this.queue.addAfter(key, ms, seen);
    else this.remember(key, seen);
  }

  addRateLimited(key: string): void {
    if (this.gate.mayAdd()) this.queue.addRateLimited(key);
    else this.remember(key, this.gate.seen());
  }

  forget(key: string): void {
    this.queue.forget(key);
  }

  numRequeues(key: string): number {
    return this.queue.numRequeues(key);
  }

  get: RateLimitingQueue['get'] = () => this.queue.get();

  shutDown(): Promise<void> {
    return this.queue.shutDown();
  }

  /** Adds what was remembered. */
  open(): void {
    const all = new Map(this.before);
    for (const [key, seen] of this.recent) all.set(key, mergeRevisions(all.get(key), seen));
    for (const [key, seen] of all) this.queue.add(key, seen);
    this.before.clear();
    this.recent.clear();
  }

  private remember(key: string, seen: string | undefined): void {
    const now = this.gate.clock.monotonic();
    if (now - this.since > rememberedMs) {
      this.before = this.recent;
      this.recent = new Map();
      this.since = now;
    }
    // Changes of several resources may have brought the key: its worker must have seen all of them.
    this.recent.set(key, mergeRevisions(this.recent.get(key), seen));
  }
}

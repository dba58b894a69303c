import type { Clock, Timer } from '@tinkernetes/component-base';
import type { QueueMetrics } from './queue-metrics';
import { mergeRevisions } from './revisions';
import { RateLimiter, type RateLimiterOptions } from './rate-limiter';
import type { RateLimitingQueue, WorkItem } from './types';

interface Delayed {
  at: number;
  timer: Timer;
}

/** Nobody can take a key away from a worker of the same process. */
const neverAborted = new AbortController().signal;

/** The queue of one process, in memory. */
export class InProcessQueue implements RateLimitingQueue {
  /** Keys that wait, in order of arrival, with their arrival's time. */
  private readonly waiting = new Map<string, number>();
  private readonly running = new Set<string>();
  /** Keys that were added while they ran. */
  private readonly again = new Set<string>();
  private readonly delayed = new Map<string, Delayed>();
  /** What a key's next run must have seen. */
  private readonly seen = new Map<string, string>();
  private readonly getters: ((item: WorkItem | undefined) => void)[] = [];
  private readonly limiter: RateLimiter;
  private readonly idle: (() => void)[] = [];
  private shuttingDown = false;

  constructor(
    private readonly clock: Clock,
    private readonly metrics: QueueMetrics,
    rateLimit?: RateLimiterOptions,
  ) {
    this.limiter = new RateLimiter(clock, rateLimit);
  }

  get length(): number {
    return this.waiting.size;
  }

  add(key: string, seen?: string): void {
    if (this.shuttingDown) return;
    this.mustSee(key, seen);
    this.enqueue(key);
  }

  addAfter(key: string, ms: number, seen?: string): void {
    if (this.shuttingDown) return;
    this.mustSee(key, seen);
    if (ms <= 0) return this.enqueue(key);
    const at = this.clock.monotonic() + ms;
    const pending = this.delayed.get(key);
    if (pending && pending.at <= at) return;
    pending?.timer.cancel();
    const timer = this.clock.setTimeout(() => {
      this.delayed.delete(key);
      this.enqueue(key);
    }, ms);
    this.delayed.set(key, { at, timer });
  }

  addRateLimited(key: string): void {
    if (this.shuttingDown) return;
    this.metrics.retried();
    this.addAfter(key, this.limiter.when(key));
  }

  forget(key: string): void {
    this.limiter.forget(key);
  }

  numRequeues(key: string): number {
    return this.limiter.numRequeues(key);
  }

  get(): Promise<WorkItem | undefined> {
    const [next] = this.waiting;
    if (next) return Promise.resolve(this.start(...next));
    if (this.shuttingDown) return Promise.resolve(undefined);
    return new Promise((resolve) => this.getters.push(resolve));
  }

  shutDown(): Promise<void> {
    this.shuttingDown = true;
    for (const { timer } of this.delayed.values()) timer.cancel();
    this.delayed.clear();
    for (const getter of this.getters.splice(0)) getter(undefined);
    if (this.running.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.idle.push(resolve));
  }

  private mustSee(key: string, seen: string | undefined): void {
    const merged = mergeRevisions(this.seen.get(key), seen);
    if (merged) this.seen.set(key, merged);
  }

  private enqueue(key: string): void {
    if (this.waiting.has(key) || this.again.has(key)) return;
    this.metrics.added();
    if (this.running.has(key)) {
      this.again.add(key);
      return;
    }
    this.waiting.set(key, this.clock.monotonic());
    this.metrics.depth(this.waiting.size);
    const getter = this.getters.shift();
    if (getter) getter(this.start(key, this.clock.monotonic()));
  }

  private start(key: string, addedAt: number): WorkItem {
    this.waiting.delete(key);
    this.running.add(key);
    this.metrics.depth(this.waiting.size);
    const finished = this.metrics.started(this.clock.monotonic() - addedAt);
    const minResourceVersion = this.seen.get(key);
    this.seen.delete(key);
    let done = false;
    return {
      key,
      signal: neverAborted,
      isHeld: () => true,
      isTakenOver: false,
      minResourceVersion,
      done: (result) => {
        if (done) return;
        done = true;
        finished();
        this.finish(key, result?.wroteResourceVersion);
      },
    };
  }

  private finish(key: string, wroteResourceVersion: string | undefined): void {
    this.running.delete(key);
    this.mustSee(key, wroteResourceVersion);
    if (this.again.delete(key)) this.enqueue(key);
    if (this.shuttingDown && this.running.size === 0) for (const resolve of this.idle.splice(0)) resolve();
  }
}

import type { Job, Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Clock, Logger, Random } from '@tinkernetes/component-base';
import type { QueueMetrics } from '../queue-metrics';
import { RateLimiter, type RateLimiterOptions } from '../rate-limiter';
import type { RateLimitingQueue, WorkItem } from '../types';
import { DelayedKeys } from './delayed-keys';
import { HeldKey, lockMs } from './held-key';
import { KeyNotes, type NotesOfKey } from './key-notes';

export interface BullQueueOptions {
  name: string;
  prefix: string;
  bullmq: typeof import('bullmq');
  /** Shared by all queues; BullMQ makes a connection of its own for what blocks. */
  redis: Redis;
  clock: Clock;
  logger: Logger;
  random: Random;
  metrics: QueueMetrics;
  rateLimit?: RateLimiterOptions;
}

interface EndedRun {
  job: Job;
  held: HeldKey;
  seen: string | undefined;
  wrote: string | undefined;
}

/** How often the keys of dead workers are looked for. */
const stalledCheckMs = 1000;
/** Seconds that a blocking wait for a key lasts. */
const waitSeconds = 5;
/** A key that outlives many workers is no failure. */
const maxStalledCount = Number.MAX_SAFE_INTEGER;
const retryMs = 1000;

/**
 * One queue in Redis. A job is a run of a key; `deduplication` by the key with `keepLastIfActive` is client-go's rule: a
 * key waits once, never runs twice at once, and runs once more when it was added while it ran.
 */
export class BullQueue implements RateLimitingQueue {
  readonly queue: Queue;
  private readonly worker: Worker;
  private readonly delayed: DelayedKeys;
  private readonly limiter: RateLimiter;
  private readonly token: string;
  private readonly notes: KeyNotes;
  /** As last heard from Redis, where all processes count them. */
  private readonly failures = new Map<string, number>();
  private readonly getters: ((item: WorkItem | undefined) => void)[] = [];
  private readonly running = new Set<HeldKey>();
  private readonly finishing = new Set<Promise<void>>();
  private readonly adding = new Set<Promise<void>>();
  private readonly idle: (() => void)[] = [];
  private isFetching = false;
  private fetching: Promise<void> = Promise.resolve();
  private counting: Promise<void> | undefined;
  private waitingCount = 0;
  private shuttingDown = false;

  constructor(private readonly options: BullQueueOptions) {
    const { name, prefix, bullmq, redis, clock, logger, random } = options;
    this.queue = new bullmq.Queue(name, { connection: redis, prefix, skipMetasUpdate: true });
    this.worker = new bullmq.Worker(name, null, {
      connection: redis,
      prefix,
      autorun: false,
      lockDuration: lockMs,
      stalledInterval: stalledCheckMs,
      maxStalledCount,
      drainDelay: waitSeconds,
    });
    const onError = (error: Error) => this.report(error, 'work queue in Redis failed, trying again');
    this.queue.on('error', onError);
    this.worker.on('error', onError);
    this.token = random.uid();
    this.notes = new KeyNotes({ redis, prefix: `${prefix}:${name}` });
    this.limiter = new RateLimiter(clock, options.rateLimit);
    this.delayed = new DelayedKeys({
      redis,
      setName: `${prefix}:${name}:delayed-keys`,
      clock,
      logger,
      due: (key) => this.put(key),
    });
    this.worker
      .startStalledCheckTimer()
      .catch((error: unknown) => this.report(error, 'stalled keys not watched'));
  }

  /** As last heard from Redis. */
  get length(): number {
    return this.waitingCount;
  }

  add(key: string, seen?: string): void {
    if (this.shuttingDown) return;
    this.options.metrics.added();
    this.track(
      this.adding,
      this.untilDone(async () => {
        // Before the key can be taken.
        if (seen) await this.notes.mustSee(key, seen);
        await this.put(key);
      }),
    );
  }

  addAfter(key: string, ms: number, seen?: string): void {
    if (this.shuttingDown) return;
    if (ms <= 0) return this.add(key, seen);
    this.track(
      this.adding,
      this.untilDone(async () => {
        if (seen) await this.notes.mustSee(key, seen);
        await this.delayed.add(key, ms);
      }),
    );
  }

  addRateLimited(key: string): void {
    if (this.shuttingDown) return;
    this.options.metrics.retried();
    this.track(
      this.adding,
      this.untilDone(async () => {
        const failures = await this.notes.failed(key);
        this.failures.set(key, failures);
        await this.delayed.add(key, this.limiter.delayAfter(failures));
      }),
    );
  }

  forget(key: string): void {
    if (!this.failures.delete(key)) return;
    this.track(
      this.adding,
      this.untilDone(() => this.notes.succeeded(key)),
    );
  }

  numRequeues(key: string): number {
    return this.failures.get(key) ?? 0;
  }

  get(): Promise<WorkItem | undefined> {
    if (this.shuttingDown) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.getters.push(resolve);
      if (!this.isFetching) this.fetching = this.fetch();
    });
  }

  /** What still waits is left to other processes, or to the next start. */
  async shutDown(): Promise<void> {
    this.shuttingDown = true;
    for (const getter of this.getters.splice(0)) getter(undefined);
    if (this.running.size > 0) await new Promise<void>((resolve) => this.idle.push(resolve));
    await Promise.all([...this.finishing, ...this.adding]);
  }

  async close(): Promise<void> {
    await this.shutDown();
    await this.delayed.close();
    // Forced, since the blocking wait for a key would go on for seconds.
    await this.worker.close(true);
    await this.fetching;
    await this.counting;
    await this.queue.close();
  }

  private async put(key: string): Promise<void> {
    await this.queue.add(
      key,
      {},
      {
        deduplication: { id: key, keepLastIfActive: true },
        removeOnComplete: true,
        removeOnFail: true,
      },
    );
    this.count();
  }

  /** Takes keys for the getters that wait, one blocking wait at a time. */
  private async fetch(): Promise<void> {
    this.isFetching = true;
    while (this.getters.length > 0 && !this.shuttingDown) {
      try {
        const job = await this.worker.getNextJob(this.token);
        if (job) await this.deliver(job);
      } catch (error) {
        if (this.shuttingDown) break;
        this.report(error, 'no key taken, trying again');
        await this.options.clock.sleep(retryMs);
      }
    }
    // In the same turn as the last look at the getters: one that comes later must find it so.
    this.isFetching = false;
  }

  /** Hands a key over, with what all processes know of it. Where that can't be read, its lock runs out and it comes again. */
  private async deliver(job: Job): Promise<void> {
    const { clock, logger } = this.options;
    const held = new HeldKey({ job, token: this.token, clock, logger });
    this.running.add(held);
    try {
      const notes = await this.notes.read(job.name);
      const getter = this.getters.shift();
      if (getter) {
        getter(this.startRun(job, held, notes));
        return;
      }
      // Shut down while the key was on its way: back with it.
      await job.moveToWait(this.token);
    } catch (error) {
      this.letGo(held);
      throw error;
    }
    this.letGo(held);
  }

  private startRun(job: Job, held: HeldKey, { seen, failures }: NotesOfKey): WorkItem {
    const { clock, metrics } = this.options;
    const finished = metrics.started(Math.max(0, clock.now() - job.timestamp));
    if (failures > 0) this.failures.set(job.name, failures);
    else this.failures.delete(job.name);
    this.count();
    let done = false;
    return {
      key: job.name,
      signal: held.signal,
      isHeld: () => held.isHeld(),
      minResourceVersion: seen,
      isTakenOver: job.stalledCounter > 0,
      done: (result) => {
        if (done) return;
        done = true;
        finished();
        this.track(this.finishing, this.finish({ job, held, seen, wrote: result?.wroteResourceVersion }));
      },
    };
  }

  private async finish({ job, held, seen, wrote }: EndedRun): Promise<void> {
    try {
      if (!held.isHeld()) return;
      held.release();
      // Before the key is free: its next run may start at once, anywhere.
      if (wrote) await this.notes.mustSee(job.name, wrote);
      else await this.notes.hasSeen(job.name, seen);
      await job.moveToCompleted(undefined, this.token, false);
    } catch (error) {
      // The lock runs out, and the key runs again somewhere: once too often does no harm.
      this.report(error, 'end of a run not written');
    } finally {
      this.letGo(held);
      this.count();
    }
  }

  private letGo(held: HeldKey): void {
    held.release();
    this.running.delete(held);
    if (this.running.size === 0) for (const resolve of this.idle.splice(0)) resolve();
  }

  private count(): void {
    if (this.shuttingDown) return;
    this.counting ??= this.queue
      .getWaitingCount()
      .then((waiting) => {
        this.waitingCount = waiting;
        this.options.metrics.depth(waiting);
      })
      .catch((error: unknown) => this.report(error, 'waiting keys not counted'))
      .finally(() => (this.counting = undefined));
  }

  private async untilDone(work: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        this.report(error, 'key not added, trying again');
        if (this.shuttingDown) return;
        await this.options.clock.sleep(retryMs);
      }
    }
  }

  private track(set: Set<Promise<void>>, work: Promise<void>): void {
    const tracked = work.finally(() => set.delete(tracked));
    set.add(tracked);
  }

  private report(error: unknown, what: string): void {
    if (!this.shuttingDown) this.options.logger.warn({ err: error }, what);
  }
}

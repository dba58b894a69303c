import type { Clock, Logger, Timer } from '@tinkernetes/component-base';
import type { Job } from 'bullmq';

/** A lock that was not extended for so long is free for others. */
export const lockMs = 2000;
/** Locks are extended well before they run out. */
const extendMs = 700;

export interface HeldKeyOptions {
  job: Job;
  token: string;
  clock: Clock;
  logger: Logger;
}

/**
 * The lock on a key while it runs. When it can't be extended in time (the process stood still, Redis is away), the
 * signal aborts: another worker may have the key by then.
 */
export class HeldKey {
  private readonly lost = new AbortController();
  private readonly timer: Timer;
  private extendedAt: number;
  private isReleased = false;

  constructor(private readonly options: HeldKeyOptions) {
    this.extendedAt = options.clock.monotonic();
    this.timer = options.clock.setInterval(() => void this.extend(), extendMs);
  }

  get signal(): AbortSignal {
    return this.lost.signal;
  }

  /** Not only what the timer found out: after a standstill it may not have run yet. */
  isHeld(): boolean {
    if (this.options.clock.monotonic() - this.extendedAt > lockMs)
      this.lose('lock ran out before it was extended');
    return !this.lost.signal.aborted;
  }

  /** The run is over; whether the lock is still there does not matter any more. */
  release(): void {
    this.isReleased = true;
    this.timer.cancel();
  }

  private async extend(): Promise<void> {
    const { job, token, clock, logger } = this.options;
    const startedAt = clock.monotonic();
    if (!this.isHeld()) return;
    try {
      const extended = await job.extendLock(token, lockMs);
      if (extended) this.extendedAt = startedAt;
      else this.lose('lock is no longer ours');
    } catch (error) {
      logger.warn({ err: error, key: job.name }, 'lock not extended');
    }
  }

  private lose(why: string): void {
    if (this.lost.signal.aborted || this.isReleased) return;
    this.timer.cancel();
    this.options.logger.warn({ key: this.options.job.name }, why);
    this.lost.abort(new Error(why));
  }
}

import type { Pod } from '@tinkernetes/api';
import type { Clock, Timer } from '@tinkernetes/component-base';
import { uidOf } from '../cache/pod-info';
import type { SchedulerCache } from '../cache/scheduler-cache';

/** Far longer than any watch lags behind: expiring too soon would fill nodes twice. */
const afterMs = 15 * 60_000;

export interface AssumedExpiryOptions {
  cache: SchedulerCache;
  clock: Clock;
  onExpired(pod: Pod): void;
}

/**
 * Bound Pods count on their node until the API shows them there. One that it never shows stops counting after a while.
 * Source: pkg/scheduler/backend/cache, cleanupAssumedPods.
 */
export class AssumedExpiry {
  /** When each Pod was bound, by uid, in order. */
  private readonly boundAt = new Map<string, number>();
  private timer: Timer | undefined;

  constructor(private readonly options: AssumedExpiryOptions) {}

  bound(pod: Pod): void {
    this.boundAt.set(uidOf(pod), this.options.clock.now());
    this.arm();
  }

  stop(): void {
    this.timer?.cancel();
    this.boundAt.clear();
  }

  private arm(): void {
    const [oldest] = this.boundAt.values();
    if (this.timer || oldest === undefined) return;
    const { clock } = this.options;
    const wait = Math.max(0, oldest + afterMs - clock.now());
    this.timer = clock.setTimeout(() => this.sweep(), wait, { unref: true });
  }

  private sweep(): void {
    this.timer = undefined;
    const { cache, clock, onExpired } = this.options;
    for (const [uid, at] of this.boundAt) {
      if (at + afterMs > clock.now()) break;
      this.boundAt.delete(uid);
      const pod = cache.assumedPod(uid);
      if (!pod) continue;
      cache.forget(pod);
      onExpired(pod);
    }
    this.arm();
  }
}

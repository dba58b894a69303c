import type { Clock } from '@tinkernetes/component-base';

const initialMs = 1000;
const maxMs = 15 * 60_000;

/**
 * How soon a daemon Pod that failed on a node is replaced: a node that refuses its Pods is asked after 1 s, then after
 * twice as long each time, at most 15 minutes; one without failure for twice that long starts anew.
 * Source: k8s.io/kubernetes/pkg/controller/daemon failedPodsBackoff.
 */
export class FailedPodsBackOff {
  private readonly waits = new Map<string, { ms: number; since: number }>();

  constructor(private readonly clock: Clock) {}

  /** Milliseconds to wait; 0: it may be replaced now, and the next one waits longer. */
  next(key: string): number {
    const now = this.clock.monotonic();
    const last = this.waits.get(key);
    const isOver = !last || now - last.since > 2 * maxMs;
    if (!isOver && now - last.since < last.ms) return last.ms;
    this.waits.set(key, { ms: isOver ? initialMs : Math.min(2 * last.ms, maxMs), since: now });
    return 0;
  }

  /** Forgets those whose time is over. */
  sweep(): void {
    const now = this.clock.monotonic();
    for (const [key, { since }] of this.waits) if (now - since > 2 * maxMs) this.waits.delete(key);
  }
}

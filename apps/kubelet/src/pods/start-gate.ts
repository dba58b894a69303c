import type { Clock } from '@tinkernetes/component-base';

/** More at once would be no faster, and each that has begun holds memory. */
const mostAtOnce = 32;
/** A start that waits for something else (an image, a volume, a hook) keeps no other from starting for longer. */
const leastPatienceMs = 500;
/** On a busy machine all starts are slow: only one that takes so much longer than the others waits for something else. */
const timesSlower = 4;
/** How much the latest start counts among those before it. */
const weightOfLatest = 0.1;

/**
 * Lets Pods start one after the other, a few at a time, where hundreds or thousands come to a machine at once: those that
 * came first run first, instead of all of them at the very end.
 */
export class StartGate {
  private inside = 0;
  private readonly waiting: Array<() => void> = [];
  /** What a start takes lately. */
  private usualMs = 0;

  constructor(private readonly clock: Clock) {}

  async pass<T>(work: () => Promise<T>): Promise<T> {
    if (this.inside >= mostAtOnce) await new Promise<void>((resolve) => this.waiting.push(resolve));
    else this.inside++;
    let isInside = true;
    const leave = () => {
      if (!isInside) return;
      isInside = false;
      const next = this.waiting.shift();
      // Whoever waits takes the place.
      if (next) next();
      else this.inside--;
    };
    const begun = this.clock.monotonic();
    const patienceMs = Math.max(leastPatienceMs, this.usualMs * timesSlower);
    const timer = this.clock.setTimeout(leave, patienceMs);
    try {
      return await work();
    } finally {
      timer.cancel();
      // One that was too slow for the gate says more about what it waited for.
      const tookMs = Math.min(this.clock.monotonic() - begun, patienceMs);
      this.usualMs += (tookMs - this.usualMs) * weightOfLatest;
      leave();
    }
  }
}

import { jitter, type Clock, type Random } from '@tinkernetes/component-base';

const initialMs = 100;
const maxMs = 30_000;
/** After this long without a failure the next one starts from the beginning. */
const resetAfterMs = 120_000;

/**
 * Doubling delays with jitter, as client-go's reflector has them, except that the first is 100 ms instead of 800 ms:
 * components start together with the API server here, and wait for it.
 */
export class Backoff {
  private delay = initialMs;
  private lastAt = -Infinity;

  constructor(
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  next(): number {
    const now = this.clock.monotonic();
    if (now - this.lastAt > resetAfterMs) this.delay = initialMs;
    this.lastAt = now;
    const ms = jitter(this.random, this.delay, 1);
    this.delay = Math.min(this.delay * 2, maxMs);
    return ms;
  }
}

import { jitter, type Clock, type Random } from '@tinkernetes/component-base';

const initialMs = 100;
const maxMs = 5000;
/** After this long without a failure the next one starts from the beginning. */
const resetAfterMs = 120_000;

/**
 * Doubling delays with jitter, as client-go's reflector has them, but from 100 ms to 5 s instead of 800 ms to 30 s:
 * components start together with the API server here, and a restart of it should not be felt for long.
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

import type { Clock } from '@tinkernetes/component-base';

export interface RateLimiterOptions {
  baseDelayMs?: number;
  maxDelayMs?: number;
  /** Overall bucket: tokens a second, and how many may be taken at once. */
  qps?: number;
  burst?: number;
}

/**
 * client-go's DefaultControllerRateLimiter: the longer of a delay that doubles with each failure of the key (5 ms to
 * 1000 s) and a token bucket over all keys (10/s, bursts of 100).
 */
export class RateLimiter {
  private readonly failures = new Map<string, number>();
  private readonly options: Required<RateLimiterOptions>;
  private tokens: number;
  private filledAt: number;

  constructor(
    private readonly clock: Clock,
    options: RateLimiterOptions = {},
  ) {
    this.options = { baseDelayMs: 5, maxDelayMs: 1_000_000, qps: 10, burst: 100, ...options };
    this.tokens = this.options.burst;
    this.filledAt = clock.monotonic();
  }

  /** How long the key has to wait this time. */
  when(key: string): number {
    const failures = this.numRequeues(key) + 1;
    this.failures.set(key, failures);
    return this.delayAfter(failures);
  }

  /** The same for a key whose failures are counted elsewhere. */
  delayAfter(failures: number): number {
    const { baseDelayMs, maxDelayMs } = this.options;
    return Math.max(Math.min(baseDelayMs * 2 ** (failures - 1), maxDelayMs), this.bucket());
  }

  forget(key: string): void {
    this.failures.delete(key);
  }

  numRequeues(key: string): number {
    return this.failures.get(key) ?? 0;
  }

  /** Takes a token, on credit if need be: the wait until it exists. */
  private bucket(): number {
    const { qps, burst } = this.options;
    const now = this.clock.monotonic();
    this.tokens = Math.min(burst, this.tokens + ((now - this.filledAt) / 1000) * qps);
    this.filledAt = now;
    this.tokens -= 1;
    return this.tokens >= 0 ? 0 : (-this.tokens / qps) * 1000;
  }
}

import type { Clock } from '@tinkernetes/component-base';

/** Lets `burst` through at once and `qps` a second from then on. Source: client-go/util/flowcontrol. */
export class TokenBucket {
  private tokens: number;
  private updatedAt: number;

  constructor(
    private readonly clock: Clock,
    private readonly rate: { qps: number; burst: number },
  ) {
    this.tokens = rate.burst;
    this.updatedAt = clock.monotonic();
  }

  /** Takes the next token, which may be one of the future; returns the milliseconds until it is there. */
  take(): number {
    const { qps, burst } = this.rate;
    const now = this.clock.monotonic();
    this.tokens = Math.min(burst, this.tokens + ((now - this.updatedAt) * qps) / 1000) - 1;
    this.updatedAt = now;
    return this.tokens >= 0 ? 0 : (-this.tokens / qps) * 1000;
  }
}

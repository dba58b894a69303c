import type { Redis } from 'ioredis';
import type { Clock, Logger, Timer } from '@tinkernetes/component-base';

/** Keys whose process died before they fell due are found after at most so long. */
const sweepMs = 1000;
/** Removes a key only when it is due: it may have been put off again since it was read. */
const removeIfDue = `
if tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or 'inf') <= tonumber(ARGV[2]) then
  return redis.call('ZREM', KEYS[1], ARGV[1])
end
return 0`;

export interface DelayedKeysOptions {
  redis: Redis;
  /** The sorted set's name: keys by the time at which they fall due. */
  setName: string;
  clock: Clock;
  logger: Logger;
  /** Resolves when the key waits in the queue. */
  due: (key: string) => Promise<void>;
}

/** Delayed adds in a sorted set, so that they survive their process, and an earlier one is never replaced by a later. */
export class DelayedKeys {
  private readonly timers = new Set<Timer>();
  private readonly sweeper: Timer;
  private sweeping: Promise<void> | undefined;
  private closed = false;

  constructor(private readonly options: DelayedKeysOptions) {
    this.sweeper = options.clock.setInterval(() => this.sweep(), sweepMs);
    this.sweep();
  }

  async add(key: string, ms: number): Promise<void> {
    const { redis, setName, clock } = this.options;
    await redis.zadd(setName, 'LT', clock.now() + ms, key);
    // The sweeper alone would be up to a second late.
    if (this.closed) return;
    const timer = clock.setTimeout(() => {
      this.timers.delete(timer);
      this.sweep();
    }, ms);
    this.timers.add(timer);
  }

  async close(): Promise<void> {
    this.closed = true;
    this.sweeper.cancel();
    for (const timer of this.timers) timer.cancel();
    await this.sweeping;
  }

  private sweep(): void {
    const { logger } = this.options;
    this.sweeping ??= this.moveDue()
      .catch((error: unknown) => logger.warn({ err: error }, 'delayed keys not moved, trying again'))
      .finally(() => (this.sweeping = undefined));
  }

  private async moveDue(): Promise<void> {
    const { redis, setName, clock, due } = this.options;
    const now = clock.now();
    for (const key of await redis.zrangebyscore(setName, '-inf', now)) {
      // First in, then out: dying in between only adds the key twice, and that counts once.
      await due(key);
      await redis.eval(removeIfDue, 1, setName, key, String(now));
    }
  }
}

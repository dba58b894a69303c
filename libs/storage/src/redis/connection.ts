import { realClock, type Logger } from '@tinkernetes/component-base';
import { Redis, ReplyError } from 'ioredis';
import { StorageUnusableError } from '../types';

/** About ten seconds of trying until a caller is told. */
const maxAttempts = 15;
const backoffMs = (attempt: number) => Math.min(1000, 50 * 2 ** attempt);

/** Not told apart by its name, which a bundler may change. */
const replyError = ReplyError as new () => Error;

/** Redis answered, with an error: trying again would not help, unless it is only starting. */
const isReply = (error: unknown) =>
  error instanceof Error && error instanceof replyError && !error.message.startsWith('LOADING');

export interface ConnectionOptions {
  url: string;
  name: string;
  logger: Logger;
  /** Checks a new connection before it is used; what it throws reaches all callers, for good. */
  verify?(redis: Redis): Promise<void>;
}

/**
 * One connection, made anew when it breaks. Commands that were under way then fail and are not sent again by
 * themselves: only the caller knows whether a write may be repeated.
 */
export class RedisConnection {
  private current: Redis | undefined;
  private connecting: Promise<Redis> | undefined;
  /** Set: it can never be used again. */
  failure: StorageUnusableError | undefined;
  private everConnected = false;
  private readonly closing = new AbortController();

  constructor(private readonly options: ConnectionOptions) {}

  /** Runs `command`; when the connection breaks, runs `onBroken` (or `command` again) on the next one. */
  async run<T>(
    command: (redis: Redis) => Promise<T>,
    onBroken: (redis: Redis) => Promise<T> = command,
  ): Promise<T> {
    let next = command;
    for (;;) {
      const redis = await this.connected();
      try {
        return await next(redis);
      } catch (error) {
        if (isReply(error) || error instanceof StorageUnusableError) throw this.asUnusable(error);
        this.discard(redis);
        next = onBroken;
      }
    }
  }

  /** No command may be used any more. */
  close(): void {
    this.closing.abort();
    this.failure ??= new StorageUnusableError('the storage has been closed');
    if (this.current) this.discard(this.current);
  }

  private connected(): Promise<Redis> {
    if (this.failure) return Promise.reject(this.failure);
    if (this.current) return Promise.resolve(this.current);
    this.connecting ??= this.connect().finally(() => (this.connecting = undefined));
    return this.connecting;
  }

  private async connect(): Promise<Redis> {
    for (let attempt = 0; ; attempt++) {
      if (this.failure) throw this.failure;
      const redis = this.make();
      try {
        await redis.connect();
        await this.options.verify?.(redis);
        return this.adopt(redis);
      } catch (error) {
        redis.disconnect();
        if (error instanceof StorageUnusableError) throw (this.failure = error);
        if (isReply(error) || attempt >= maxAttempts) throw this.asUnusable(error);
        await realClock.sleep(backoffMs(attempt), this.closing.signal).catch(() => undefined);
      }
    }
  }

  private make(): Redis {
    const redis = new Redis(this.options.url, {
      lazyConnect: true,
      retryStrategy: () => null,
      maxRetriesPerRequest: 0,
      enableOfflineQueue: false,
      connectTimeout: 3000,
      // Nothing is under way any more when a connection is given up.
      disconnectTimeout: 100,
      keepAlive: 10_000,
      noDelay: true,
    });
    // The command or connect() that fails because of it is what reports it.
    redis.on('error', (error: Error) => this.options.logger.debug({ err: error }, 'redis connection error'));
    return redis;
  }

  private adopt(redis: Redis): Redis {
    if (this.failure) {
      redis.disconnect();
      throw this.failure;
    }
    this.current = redis;
    redis.once('end', () => this.discard(redis));
    if (this.everConnected) this.options.logger.info({}, `reconnected to ${this.options.name}`);
    this.everConnected = true;
    return redis;
  }

  private discard(redis: Redis): void {
    if (this.current !== redis) return;
    this.current = undefined;
    redis.disconnect();
    if (!this.closing.signal.aborted)
      this.options.logger.warn({}, `lost the connection to ${this.options.name}`);
  }

  private asUnusable(cause: unknown): StorageUnusableError {
    if (cause instanceof StorageUnusableError) return cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const advice = isReply(cause)
      ? 'check its configuration'
      : 'check that it runs and that the address is right';
    return new StorageUnusableError(`${this.options.name} can't be used (${reason}): ${advice}`, { cause });
  }
}

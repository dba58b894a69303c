import type { Clock, Logger, Metrics } from '@tinkernetes/component-base';
import { StatusError } from '@tinkernetes/apimachinery';
import { CompactedError, type Storage, type StorageEvent } from '@tinkernetes/storage';
import { FlushTurns } from './flush-turns';
import { cacheMetrics } from './metrics';
import { WatchCache } from './watch-cache';
import { WrittenObjects } from './written-objects';

const registryRoot = '/registry/';

/** Upstream waits this long for its cache to reach a revision before it answers 504. */
const freshnessTimeoutMs = 3000;

/** A storage that fails is asked again after this long, twice as long each time. */
const retryMs = { first: 200, most: 10_000 };

interface Waiter {
  revision: number;
  resolve(): void;
  /** Nothing will come any more. */
  giveUp(reason: unknown): void;
}

/**
 * The one storage watch of the server: it loads everything once and keeps every WatchCache current, so that there is
 * one revision up to which all caches are known to be complete.
 */
export class StorageFeed {
  private readonly caches = new Map<string, WatchCache>();
  /** What writers are storing right now. */
  readonly written = new WrittenObjects();
  /** When watchers write, of whatever resource. */
  readonly turns: FlushTurns;
  /** Counts a watcher that was closed because it didn't keep up. */
  readonly terminated: (cache: WatchCache) => void;
  private waiters: Waiter[] = [];
  private delivered = 0;
  /** Storage has forgotten what came after the last event: everything has to be loaded anew. */
  private isOutdated = false;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly storage: Storage,
    private readonly options: { clock: Clock; logger: Logger; signal: AbortSignal; metrics?: Metrics },
  ) {
    this.turns = new FlushTurns(options.clock);
    this.terminated = options.metrics ? cacheMetrics(options.metrics, this) : () => undefined;
  }

  /** All events up to this revision have been applied. */
  get revision(): number {
    return this.delivered;
  }

  /** Loads what is stored, then follows it until the signal aborts. */
  async start(): Promise<void> {
    await this.load();
    this.running = this.follow().finally(() => {
      for (const waiter of this.waiters.splice(0)) waiter.giveUp(this.options.signal.reason);
    });
  }

  /** Resolves when the watch has ended after the signal. */
  stopped(): Promise<void> {
    return this.running;
  }

  allCaches(): Iterable<WatchCache> {
    return this.caches.values();
  }

  cache(prefix: string): WatchCache {
    let cache = this.caches.get(prefix);
    if (!cache) {
      cache = new WatchCache(prefix, this.delivered, this);
      this.caches.set(prefix, cache);
    }
    return cache;
  }

  /** Waits until the caches show everything up to `revision`. Rejects when that takes too long, or at the end. */
  async waitFor(revision: number): Promise<void> {
    if (revision <= this.delivered) return;
    this.options.signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const waiter: Waiter = {
        revision,
        resolve: () => {
          timer.cancel();
          resolve();
        },
        giveUp: (reason) => {
          timer.cancel();
          reject(reason as Error);
        },
      };
      const timer = this.options.clock.setTimeout(() => {
        this.waiters = this.waiters.filter((w) => w !== waiter);
        reject(tooLargeResourceVersion(revision, this.delivered));
      }, freshnessTimeoutMs);
      this.waiters.push(waiter);
    });
  }

  /** Waits until the caches are as new as storage is now: what a read without resourceVersion promises. */
  async waitUntilFresh(): Promise<void> {
    const revision = await this.storage.currentRevision();
    if (revision > this.delivered) await this.waitFor(revision);
  }

  private async load(): Promise<void> {
    const { revision, items } = await this.storage.range(registryRoot);
    for (const cache of this.caches.values()) cache.reset(revision);
    this.delivered = revision;
    for (const item of items) this.cacheOfKey(item.key).load(item);
  }

  private async follow(): Promise<void> {
    const { signal, logger, clock } = this.options;
    let delayMs = retryMs.first;
    while (!signal.aborted) {
      const before = this.delivered;
      const error = await this.followOnce();
      if (signal.aborted) return;
      if (this.delivered > before) delayMs = retryMs.first;
      logger.warn({ err: error, delayMs }, 'storage watch ended; starting it again');
      await clock.sleep(delayMs, signal).catch(() => undefined);
      delayMs = Math.min(delayMs * 2, retryMs.most);
    }
  }

  /** Follows storage until the watch ends; why it did, if it said so. */
  private async followOnce(): Promise<unknown> {
    const { signal } = this.options;
    try {
      if (this.isOutdated) await this.load();
      this.isOutdated = false;
      const batches = this.storage.watch(registryRoot, { afterRevision: this.delivered, signal });
      for await (const batch of batches) {
        if (batch.kind === 'events') this.applyBatch(batch.events);
        this.advance(batch.revision);
      }
      return undefined;
    } catch (error) {
      if (error instanceof CompactedError) this.isOutdated = true;
      return error;
    }
  }

  private applyBatch(events: readonly StorageEvent[]): void {
    const touched = new Set<WatchCache>();
    for (const event of events) {
      const cache = this.cacheOfKey(event.key);
      cache.apply(event);
      touched.add(cache);
    }
    for (const cache of touched) cache.flush();
  }

  private advance(revision: number): void {
    this.delivered = Math.max(this.delivered, revision);
    if (this.waiters.length === 0) return;
    const ready = this.waiters.filter((w) => w.revision <= this.delivered);
    this.waiters = this.waiters.filter((w) => w.revision > this.delivered);
    for (const waiter of ready) waiter.resolve();
  }

  private cacheOfKey(key: string): WatchCache {
    return this.cache(prefixOfKey(key));
  }
}

/** `/registry/pods/` of `/registry/pods/default/web-1`; groups with a dot and services have a second level. */
export function prefixOfKey(key: string): string {
  const end = key.indexOf('/', registryRoot.length);
  if (end < 0) return key;
  const first = key.slice(registryRoot.length, end);
  if (first !== 'services' && !first.includes('.')) return key.slice(0, end + 1);
  const second = key.indexOf('/', end + 1);
  return second < 0 ? key.slice(0, end + 1) : key.slice(0, second + 1);
}

export function tooLargeResourceVersion(wanted: number, current: number): StatusError {
  return new StatusError('Timeout', `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  });
}

import type { KubeObject } from '@tinkernetes/api';
import type { Clock, Logger } from '@tinkernetes/component-base';
import { StatusError } from '@tinkernetes/apimachinery';
import { CompactedError, type Storage, type StorageEvent } from '@tinkernetes/storage';
import { WatchCache } from './watch-cache';

const registryRoot = '/registry/';

/** Upstream waits this long for its cache to reach a revision before it answers 504. */
const freshnessTimeoutMs = 3000;

/** How many written objects wait for their event at most. */
const maxWritten = 4096;

interface Waiter {
  revision: number;
  resolve(): void;
}

/**
 * The one storage watch of the server: it loads everything once and keeps every WatchCache current, so that there is
 * one revision up to which all caches are known to be complete.
 */
export class StorageFeed {
  private readonly caches = new Map<string, WatchCache>();
  private readonly written = new Map<number, KubeObject>();
  private waiters: Waiter[] = [];
  private delivered = 0;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly storage: Storage,
    private readonly options: { clock: Clock; logger: Logger; signal: AbortSignal },
  ) {}

  /** All events up to this revision have been applied. */
  get revision(): number {
    return this.delivered;
  }

  /** Loads what is stored, then follows it until the signal aborts. */
  async start(): Promise<void> {
    await this.load();
    this.running = this.follow();
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

  /** What a writer just stored under `revision`: saves the cache a decode. */
  offerWritten(revision: number, object: KubeObject): void {
    if (revision <= this.delivered || this.written.size >= maxWritten) return;
    this.written.set(revision, object);
  }

  takeWritten(revision: number): KubeObject | undefined {
    const object = this.written.get(revision);
    if (object) this.written.delete(revision);
    return object;
  }

  /** Waits until the caches show everything up to `revision`. */
  async waitFor(revision: number): Promise<void> {
    if (revision <= this.delivered) return;
    await new Promise<void>((resolve, reject) => {
      const waiter: Waiter = {
        revision,
        resolve: () => {
          timer.cancel();
          resolve();
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
    while (!signal.aborted) {
      try {
        for await (const batch of this.storage.watch(registryRoot, {
          afterRevision: this.delivered,
          signal,
        })) {
          if (batch.kind === 'events') this.applyBatch(batch.events);
          this.advance(batch.revision);
        }
      } catch (error) {
        if (signal.aborted) return;
        logger.warn({ err: error }, 'storage watch ended; starting it again');
        if (error instanceof CompactedError) await this.load();
        else await clock.sleep(200, signal).catch(() => undefined);
      }
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

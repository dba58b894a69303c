import type { KeyValue, StorageEvent } from '@tinkernetes/storage';
import { CacheEntry, type EntryOwner, type StoredCodec } from './cache-entry';
import { CacheEvent } from './cache-event';
import { EventRing } from './event-ring';
import type { FlushTurns } from './flush-turns';
import { ParsedObjects } from './parsed-objects';
import { SortedEntries } from './sorted-entries';
import type { WrittenObjects } from './written-objects';

/** Receives each change after it has been applied; `close` when the cache had to be loaded anew. */
export interface CacheSubscriber {
  event(event: CacheEvent): void;
  /** Called after storage batches that changed this resource, when it is this subscriber's turn. */
  flush?(): void;
  close?(): void;
}

const ringCapacity = 2048;

/**
 * Current objects under one storage prefix and the latest changes to them. Fed by StorageFeed, read by lists, gets
 * and watches. Source: k8s.io/apiserver/pkg/storage/cacher.
 */
export class WatchCache {
  private readonly namespaces = new Map<string, SortedEntries>();
  /** Namespaces in the order of their keys. */
  private namespaceOrder: string[] = [];
  private readonly subscribers = new Set<CacheSubscriber>();
  /** Those that have something to write after a batch. */
  private readonly flushable = new Set<Required<Pick<CacheSubscriber, 'flush'>>>();
  private readonly ring: EventRing;
  private codec: StoredCodec | undefined;
  private entryCount = 0;
  private groupResource: { group: string; resource: string } | undefined;
  private changed = false;
  private readonly owner: EntryOwner = {
    codec: () => {
      if (!this.codec) throw new Error(`no resource is registered for ${this.prefix}`);
      return this.codec;
    },
    parsed: new ParsedObjects(),
  };

  constructor(
    /** `/registry/pods/` */
    readonly prefix: string,
    loadedAt: number,
    /** The revision up to which the feed has delivered, what writers are storing, and when watchers write. */
    private readonly feed: {
      readonly revision: number;
      readonly written: WrittenObjects;
      readonly turns: FlushTurns;
      terminated(cache: WatchCache): void;
    },
  ) {
    this.ring = new EventRing(ringCapacity, loadedAt);
  }

  setCodec(codec: StoredCodec): void {
    if (codec === this.codec) return;
    if (this.codec) for (const entry of this.list()) entry.forget();
    this.codec = codec;
  }

  /** Of whom the objects are; for metrics. */
  setResource(resource: { group: string; resource: string }): void {
    this.groupResource = resource;
  }
  get resource(): { group: string; resource: string } | undefined {
    return this.groupResource;
  }
  /** A watcher was closed because it didn't keep up. */
  countTerminated(): void {
    this.feed.terminated(this);
  }

  get revision(): number {
    return this.feed.revision;
  }
  get size(): number {
    return this.entryCount;
  }
  /** Events that are kept for watches that resume. */
  get capacity(): number {
    return ringCapacity;
  }
  get oldestResumable(): number {
    return this.ring.oldestResumable;
  }

  get(name: string, namespace = ''): CacheEntry | undefined {
    return this.namespaces.get(namespace)?.get(name);
  }

  /** All entries (of a namespace) in key order; a copy, so that it stays as it is while it is written out. */
  list(namespace?: string): CacheEntry[] {
    if (namespace !== undefined) return [...(this.namespaces.get(namespace)?.all ?? [])];
    const out: CacheEntry[] = [];
    for (const name of this.namespaceOrder) {
      for (const entry of this.namespaces.get(name)?.all ?? []) out.push(entry);
    }
    return out;
  }

  eventsSince(revision: number): CacheEvent[] | undefined {
    return this.ring.since(revision);
  }

  subscribe(subscriber: CacheSubscriber): () => void {
    this.subscribers.add(subscriber);
    if (!canFlush(subscriber)) return () => void this.subscribers.delete(subscriber);
    this.flushable.add(subscriber);
    return () => {
      this.subscribers.delete(subscriber);
      this.flushable.delete(subscriber);
      this.feed.turns.remove(subscriber);
    };
  }

  /** Part of the first load. */
  load(item: KeyValue): void {
    const { modRevision: revision, value, trace } = item;
    this.put(new CacheEntry({ ...this.split(item.key), revision, value, trace }, this.owner));
  }

  /** Forgets everything before another load; watchers have to start again. */
  reset(revision: number): void {
    this.namespaces.clear();
    this.namespaceOrder = [];
    this.entryCount = 0;
    this.ring.reset(revision);
    for (const subscriber of [...this.subscribers]) subscriber.close?.();
  }

  apply(event: StorageEvent): void {
    const { namespace, name } = this.split(event.key);
    const previous = this.namespaces.get(namespace)?.get(name);
    const change = event.type === 'PUT' ? this.applyPut(event, previous) : this.applyDelete(event, previous);
    if (!change) return;
    this.ring.push(change);
    this.changed = true;
    for (const subscriber of this.subscribers) subscriber.event(change);
    previous?.superseded();
  }

  /** The batch that `apply` was called for is complete. */
  flush(): void {
    if (!this.changed) return;
    this.changed = false;
    this.feed.turns.add(this.flushable);
  }

  private applyPut(event: StorageEvent, previous: CacheEntry | undefined): CacheEvent {
    const { revision } = event;
    const { value, trace } = event.current;
    const written = this.feed.written.storedAs(event.current);
    const state = { ...this.split(event.key), revision, value, trace };
    const entry = new CacheEntry(state, this.owner, written);
    this.put(entry);
    return new CacheEvent(previous ? 'MODIFIED' : 'ADDED', revision, entry, previous);
  }

  private applyDelete(event: StorageEvent, previous: CacheEntry | undefined): CacheEvent | undefined {
    if (!previous) return undefined;
    const entries = this.namespaces.get(previous.namespace);
    entries?.delete(previous.name);
    this.entryCount--;
    if (entries?.size === 0) {
      this.namespaces.delete(previous.namespace);
      this.namespaceOrder = this.namespaceOrder.filter((n) => n !== previous.namespace);
    }
    return new CacheEvent('DELETED', event.revision, previous.deletedAt(event.revision), previous);
  }

  private put(entry: CacheEntry): void {
    let entries = this.namespaces.get(entry.namespace);
    if (!entries) {
      entries = new SortedEntries();
      this.namespaces.set(entry.namespace, entries);
      this.namespaceOrder.push(entry.namespace);
      this.namespaceOrder.sort((a, b) => (`${a}/` < `${b}/` ? -1 : 1));
    }
    const before = entries.size;
    entries.set(entry);
    this.entryCount += entries.size - before;
  }

  private split(key: string): { namespace: string; name: string } {
    const rest = key.slice(this.prefix.length);
    const slash = rest.indexOf('/');
    return slash < 0
      ? { namespace: '', name: rest }
      : { namespace: rest.slice(0, slash), name: rest.slice(slash + 1) };
  }
}

const canFlush = (subscriber: CacheSubscriber): subscriber is CacheSubscriber & { flush(): void } =>
  subscriber.flush !== undefined;

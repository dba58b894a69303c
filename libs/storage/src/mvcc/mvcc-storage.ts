import type { Clock } from '@tinkernetes/component-base';
import {
  CompactedError,
  FutureRevisionError,
  GuardFailedError,
  StorageUnusableError,
  type KeyValue,
  type PutOptions,
  type RangeOptions,
  type RangeResult,
  type Storage,
  type StorageBatch,
} from '../types';
import { Compactor } from './compactor';
import type { Change, Driver, StoredVersion, Write } from './driver';
import { Expiry } from './expiry';
import { encodeSnapshot, decodeSnapshot } from './snapshot';
import { WatchHub } from './watch-hub';

export interface MvccOptions {
  clock: Clock;
  /** How much history auto-compaction keeps; 0: no auto-compaction. */
  keepHistoryMs?: number;
  /** Called with the number of writes that shared a commit. */
  observeBatch?: (size: number) => void;
}

const historyPageSize = 2000;
const openPageSize = 1000;

/** `Storage` over a plain driver: everything that does not depend on where the bytes are kept. */
export class MvccStorage implements Storage {
  private readonly hub: WatchHub;
  private readonly expiry: Expiry;
  private readonly compactor: Compactor;
  private closed = false;

  constructor(
    private readonly driver: Driver,
    private readonly options: MvccOptions,
  ) {
    this.hub = new WatchHub(driver);
    this.expiry = new Expiry(options.clock, (key, revision) => this.expire(key, revision));
    this.compactor = new Compactor(options.clock, options.keepHistoryMs ?? 300_000, driver);
  }

  static async open(driver: Driver, options: MvccOptions): Promise<MvccStorage> {
    const storage = new MvccStorage(driver, options);
    const { revision } = await driver.start({
      onChanges: (changes, reached) => storage.onChanges(changes, reached),
      onGap: (revision) => storage.hub.publishGap(revision),
      onFailure: (error) => storage.hub.close(error),
    });
    storage.hub.start(revision);
    if (!driver.expiresByItself) await storage.adoptExpiring();
    storage.compactor.start(revision);
    return storage;
  }

  async get(
    key: string,
    { revision }: { revision?: number } = {},
  ): Promise<{ revision: number; item: KeyValue | undefined }> {
    this.refuseClosed();
    if (!revision) return this.driver.read(key);
    if (this.driver.readRangeAt) {
      const { items } = await this.driver.readRangeAt(key, { revision, limit: 1 });
      return { revision, item: items.find((item) => item.key === key) };
    }
    const past = await this.past(key, { revision, exactKey: key });
    return { revision, item: past.find((item) => item.key === key) };
  }

  async range(prefix: string, options: RangeOptions = {}): Promise<RangeResult> {
    this.refuseClosed();
    const { limit, revision, startAfter, countOnly } = options;
    if (!revision) return this.driver.readRange(prefix, { limit, startAfter, countOnly });
    if (this.driver.readRangeAt)
      return this.driver.readRangeAt(prefix, { revision, limit, startAfter, countOnly });
    const all = await this.past(prefix, { revision, startAfter });
    return { revision, count: all.length, items: countOnly ? [] : limit ? all.slice(0, limit) : all };
  }

  async create(key: string, value: Uint8Array, options: PutOptions = {}): Promise<KeyValue> {
    return this.put(key, { value, expectedRevision: 0, options });
  }

  async update(
    key: string,
    value: Uint8Array,
    expectedRevision: number,
    options: PutOptions = {},
  ): Promise<KeyValue> {
    // 0 would mean "must not exist" to a driver; no version has that revision.
    if (expectedRevision <= 0) throw new GuardFailedError(key, (await this.driver.read(key)).item);
    return this.put(key, { value, expectedRevision, options });
  }

  async delete(key: string, expectedRevision: number): Promise<{ revision: number; previous: KeyValue }> {
    if (expectedRevision <= 0) throw new GuardFailedError(key, (await this.driver.read(key)).item);
    const { revision, previous } = await this.write({ key, expectedRevision });
    if (!previous) throw new Error(`${this.driver.name}: deletion of ${key} reported nothing deleted`);
    return { revision, previous };
  }

  watch(
    prefix: string,
    options: { afterRevision: number; signal: AbortSignal },
  ): AsyncIterable<StorageBatch> {
    this.refuseClosed();
    return this.hub.watch(prefix, options);
  }

  async currentRevision(): Promise<number> {
    this.refuseClosed();
    return (await this.driver.state()).revision;
  }

  async compact(revision: number): Promise<void> {
    this.refuseClosed();
    const state = await this.driver.state();
    if (revision > state.revision) throw new FutureRevisionError(revision, state.revision);
    if (revision <= state.compactRevision) throw new CompactedError(revision, state.compactRevision);
    await this.driver.compact(revision);
  }

  async *snapshot(): AsyncGenerator<Uint8Array, void> {
    this.refuseClosed();
    const { revision, items } = await this.driver.readRange('', {});
    yield* encodeSnapshot(revision, items);
  }

  async restore(chunks: AsyncIterable<Uint8Array>): Promise<void> {
    this.refuseClosed();
    const { revision, versions } = await decodeSnapshot(chunks);
    const adopt = (version: StoredVersion) => this.expiry.adopt([version]);
    await this.driver.load(
      (async function* () {
        for await (const version of versions) {
          adopt(version);
          yield version;
        }
      })(),
      revision,
    );
    if (!this.driver.numbersByItself) this.hub.publish([], revision);
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    this.expiry.stop();
    this.compactor.stop();
    this.hub.close();
    await this.driver.close();
  }

  private async put(
    key: string,
    {
      value,
      expectedRevision,
      options,
    }: { value: Uint8Array; expectedRevision: number; options: PutOptions },
  ): Promise<KeyValue> {
    const put: Write['put'] = { value };
    if (options.trace !== undefined) put.trace = options.trace;
    if (options.ttlSeconds) put.expiresAt = this.options.clock.now() + options.ttlSeconds * 1000;
    const { current } = await this.write({ key, expectedRevision, put });
    if (!current) throw new Error(`${this.driver.name}: write of ${key} reported a deletion`);
    return current;
  }

  private async write(write: Write): Promise<Change> {
    this.refuseClosed();
    const outcome = await this.driver.write(write);
    if (outcome.kind === 'refused') throw new GuardFailedError(write.key, outcome.current);
    return outcome.change;
  }

  /** Versions under `prefix` as of `revision`: what is there now, with every later change undone. */
  private async past(
    prefix: string,
    { revision, startAfter, exactKey }: { revision: number; startAfter?: string; exactKey?: string },
  ): Promise<StoredVersion[]> {
    const now = exactKey
      ? await this.driver
          .read(exactKey)
          .then(({ revision: at, item }) => ({ revision: at, items: item ? [item] : [] }))
      : await this.driver.readRange(prefix, { startAfter });
    if (revision > now.revision) throw new FutureRevisionError(revision, now.revision);
    const undone = new Map<string, StoredVersion | undefined>();
    for (let after = revision; after < now.revision;) {
      const page = await this.driver.readChanges(prefix, {
        after,
        upTo: now.revision,
        limit: historyPageSize,
      });
      for (const { key, previous } of page.changes) if (!undone.has(key)) undone.set(key, previous);
      after = page.reached;
    }
    const { compactRevision } = await this.driver.state();
    if (revision < compactRevision) throw new CompactedError(revision, compactRevision);
    if (undone.size === 0) return now.items;
    const items = now.items.filter((item) => !undone.has(item.key));
    for (const previous of undone.values()) {
      if (previous && (startAfter === undefined || previous.key > startAfter)) items.push(previous);
    }
    return items.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  private onChanges(changes: Change[], revision: number): void {
    this.expiry.observe(changes);
    this.compactor.observe(revision);
    this.hub.publish(changes, revision);
  }

  /** In pages: a server that others use, too, isn't held up. What is written meanwhile the listener is told. */
  private async adoptExpiring(): Promise<void> {
    for (let startAfter: string | undefined; ;) {
      const { items } = await this.driver.readRange('', { limit: openPageSize, startAfter });
      this.expiry.adopt(items);
      if (items.length < openPageSize) return;
      startAfter = items[items.length - 1]?.key;
    }
  }

  private async expire(key: string, revision: number): Promise<void> {
    if (this.closed) return;
    try {
      await this.delete(key, revision);
    } catch (error) {
      // Somebody else wrote or deleted it first: then this expiry no longer concerns it.
      if (!(error instanceof GuardFailedError) && !this.closed) throw error;
    }
  }

  private refuseClosed(): void {
    if (this.closed) throw new StorageUnusableError('the storage has been closed');
  }
}

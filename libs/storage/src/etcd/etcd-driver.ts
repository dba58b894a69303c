import { realClock, type Clock, type Logger, type Timer } from '@tinkernetes/component-base';
import { prefixEnd } from '../local/sorted-keys';
import type {
  Change,
  ChangePage,
  CurrentRange,
  Driver,
  DriverListener,
  DriverState,
  RangeAt,
  StoredVersion,
  Write,
  WriteOutcome,
} from '../mvcc/driver';
import { CompactedError, FutureRevisionError, StorageUnusableError } from '../types';
import { EtcdClient, isOutOfRange, type EtcdClientOptions } from './etcd-client';
import type { EtcdEvent, EtcdKeyValue, RangeRequest, RequestOp } from './messages';
import { watchStream, type WatchRange } from './watch-stream';
import { WrittenTraces } from './written-traces';

export interface EtcdOptions extends Pick<EtcdClientOptions, 'endpoints' | 'tls' | 'user'> {
  /** Before every key; '' is upstream's layout, `/registry/…`. */
  keyPrefix: string;
  /** That expiry times are told in. */
  clock: Clock;
  logger: Logger;
}

/** etcd's wire values: the comparison EQUAL, its target MOD, the event PUT. */
const equal = 0;
const modRevision = 2;
const putEvent = 0;
/** Etcd's notation for "to the end of all keys". */
const toTheEnd = Buffer.from([0]);
/** All keys of the store begin with a slash; this one doesn't, so no read finds it. */
const markerKey = 'tinkernetes_progress';
const reconnectMs = 200;
/** When the watch stands still for so long before a revision that somebody asked for, a marker is written. */
const markAfterMs = 300;

/**
 * A store in etcd v3, which several API servers may share, a real kube-apiserver among them. One watch follows all keys,
 * which makes order and progress certain (etcd's own progress notices overtake events in older versions). A marker is
 * written where a revision would otherwise bring no event: at the start, and when somebody else uses the same etcd.
 * Trace contexts are remembered by the process that wrote them.
 */
export class EtcdDriver implements Driver {
  readonly name: string;
  readonly expiresByItself = true;
  readonly numbersByItself = true;
  private readonly client: EtcdClient;
  private readonly all: WatchRange;
  private readonly traces = new WrittenTraces();
  private readonly stopping = new AbortController();
  private following: Promise<void> = Promise.resolve();
  private followed = 0;
  private markTimer: Timer | undefined;

  constructor(private readonly options: EtcdOptions) {
    this.name = `etcd at ${options.endpoints.join(', ')}`;
    const { endpoints, tls, user } = options;
    this.client = new EtcdClient({ endpoints, tls, user, name: this.name });
    this.all = rangeOf(options.keyPrefix);
  }

  async start(listener: DriverListener): Promise<DriverState> {
    try {
      this.followed = await this.mark();
    } catch (error) {
      await this.close();
      throw error;
    }
    this.following = this.follow(listener);
    return { revision: this.followed, compactRevision: 0 };
  }

  /** Etcd refuses by itself what has been compacted, so the mark need not be known here. */
  async state(): Promise<DriverState> {
    const { header } = await this.rangeCall({ key: this.wireKey('/'), count_only: true });
    this.ensureReached(header.revision);
    return { revision: header.revision, compactRevision: 0 };
  }

  async read(key: string): Promise<{ revision: number; item: StoredVersion | undefined }> {
    const { header, kvs } = await this.rangeCall({ key: this.wireKey(key) });
    const [found] = kvs;
    return { revision: header.revision, item: found && this.version(found) };
  }

  readRange(prefix: string, options: Omit<RangeAt, 'revision'>): Promise<CurrentRange> {
    return this.readRangeAt(prefix, { ...options, revision: 0 });
  }

  async readRangeAt(
    prefix: string,
    { revision, limit, startAfter, countOnly }: RangeAt,
  ): Promise<CurrentRange> {
    // '' means all keys of the store, and they begin with a slash.
    const under = prefix === '' ? '/' : prefix;
    const isAfter = startAfter !== undefined && startAfter >= under;
    const { header, kvs, count } = await this.rangeCall({
      ...rangeOf(this.options.keyPrefix + under),
      ...(isAfter ? { key: this.wireKey(`${startAfter}\0`) } : {}),
      limit,
      revision,
      count_only: countOnly,
    });
    return { revision: revision || header.revision, count, items: kvs.map((kv) => this.version(kv)) };
  }

  async write({ key, expectedRevision, put }: Write): Promise<WriteOutcome> {
    const wireKey = this.wireKey(key);
    const before: RequestOp = { request_range: { key: wireKey } };
    const operation: RequestOp = put
      ? { request_put: { key: wireKey, value: put.value, lease: await this.lease(put.expiresAt) } }
      : { request_delete_range: { key: wireKey, prev_kv: false } };
    const { header, succeeded, responses } = await this.traces.during(key, put, async () => {
      const answer = await this.client.call('KV/Txn', {
        compare: [{ result: equal, target: modRevision, key: wireKey, mod_revision: expectedRevision }],
        success: [before, operation],
        failure: [before],
      });
      if (answer.succeeded && put?.trace !== undefined)
        this.traces.remember(key, answer.header.revision, put.trace);
      return answer;
    });
    const found = responses[0]?.response_range?.kvs[0];
    const previous = found && this.version(found);
    if (!succeeded) return { kind: 'refused', current: previous };
    const { revision } = header;
    if (!put) return { kind: 'written', change: { revision, key, current: undefined, previous } };
    const current: StoredVersion = {
      key,
      value: put.value,
      createRevision: previous?.createRevision ?? revision,
      modRevision: revision,
      version: (previous?.version ?? 0) + 1,
      ...(put.trace === undefined ? {} : { trace: put.trace }),
    };
    return { kind: 'written', change: { revision, key, current, previous } };
  }

  /** `upTo` is the revision of some event: only such revisions are told to the listener. */
  async readChanges(
    prefix: string,
    { after, upTo, limit }: { after: number; upTo: number; limit: number },
  ): Promise<ChangePage> {
    const changes: Change[] = [];
    if (after >= upTo) return { changes, reached: after };
    const { signal } = this.stopping;
    for await (const events of watchStream(this.client, { range: this.all, after, signal })) {
      let reached = after;
      for (const event of events) {
        reached = event.kv.mod_revision;
        if (reached > upTo) break;
        changes.push(...this.changesOf([event]).filter(({ key }) => key.startsWith(prefix)));
      }
      if (reached >= upTo) return { changes, reached: upTo };
      if (changes.length >= limit) return { changes, reached };
    }
    throw new StorageUnusableError('the storage has been closed');
  }

  async compact(revision: number): Promise<void> {
    try {
      await this.client.call('KV/Compact', { revision, physical: false });
    } catch (error) {
      throw await this.explained(error, revision);
    }
  }

  /** Etcd numbers revisions by itself: objects get new ones, in the order of their old ones. */
  async load(versions: AsyncIterable<StoredVersion>): Promise<void> {
    const { count } = await this.readRange('', { countOnly: true });
    if (count > 0)
      throw new StorageUnusableError('the store is not empty: restore a snapshot into a new one');
    const all: StoredVersion[] = [];
    for await (const version of versions) all.push(version);
    all.sort((a, b) => a.modRevision - b.modRevision);
    for (const { key, value, expiresAt, trace } of all) {
      const { kind } = await this.write({ key, expectedRevision: 0, put: { value, expiresAt, trace } });
      if (kind === 'refused')
        throw new StorageUnusableError(`another program writes to ${this.name}: stop it first`);
    }
  }

  async close(): Promise<void> {
    this.markTimer?.cancel();
    this.stopping.abort(new Error('closed'));
    await this.following;
    this.client.close();
  }

  /** Follows all keys; when the stream breaks, goes on after the last revision told, or from now if what followed is gone. */
  private async follow({ onChanges, onGap }: DriverListener): Promise<void> {
    const { signal } = this.stopping;
    let isGone = false;
    while (!signal.aborted) {
      try {
        if (isGone) onGap((this.followed = await this.mark()));
        isGone = false;
        const options = { range: this.all, after: this.followed, signal };
        for await (const events of watchStream(this.client, options)) {
          this.followed = events[events.length - 1]?.kv.mod_revision ?? this.followed;
          onChanges(this.changesOf(events), this.followed);
        }
      } catch (error) {
        if (signal.aborted) return;
        this.options.logger.warn({ err: error }, `the watch on ${this.name} broke; going on`);
        isGone ||= error instanceof CompactedError;
        await realClock.sleep(reconnectMs, signal).catch(() => undefined);
      }
    }
  }

  /** Writes the marker; its revision is one that watchers reach. */
  private async mark(): Promise<number> {
    const key = Buffer.from(this.options.keyPrefix + markerKey);
    const request_put = { key, value: Buffer.alloc(0) };
    const { header } = await this.client.call('KV/Txn', {
      compare: [],
      success: [{ request_put }],
      failure: [],
    });
    return header.revision;
  }

  /** Somebody else's writes move the revision on without an event here: then the watch stands still before it. */
  private ensureReached(revision: number): void {
    if (this.followed >= revision || this.markTimer) return;
    const before = this.followed;
    this.markTimer = realClock.setTimeout(
      () => {
        this.markTimer = undefined;
        if (this.stopping.signal.aborted) return;
        if (this.followed > before) this.ensureReached(revision);
        else
          this.mark().catch((error: unknown) =>
            this.options.logger.warn({ err: error }, 'progress marker failed'),
          );
      },
      markAfterMs,
      { unref: true },
    );
  }

  private async rangeCall(request: RangeRequest) {
    try {
      return await this.client.call('KV/Range', request);
    } catch (error) {
      throw await this.explained(error, request.revision ?? 0);
    }
  }

  /** Etcd says only that a revision is out of range; on which side follows from where it is now. */
  private async explained(error: unknown, revision: number): Promise<unknown> {
    if (!isOutOfRange(error)) return error;
    const { revision: current } = await this.state();
    return revision > current
      ? new FutureRevisionError(revision, current)
      : new CompactedError(revision, revision + 1);
  }

  private async lease(expiresAt: number | undefined): Promise<string | undefined> {
    if (expiresAt === undefined) return undefined;
    const seconds = Math.max(1, Math.ceil((expiresAt - this.options.clock.now()) / 1000));
    return (await this.client.call('Lease/LeaseGrant', { TTL: seconds })).ID;
  }

  /** Keys that are none of the store's, as the marker, are left out. */
  private changesOf(events: readonly EtcdEvent[]): Change[] {
    return events.flatMap(({ type, kv, prev_kv }) => {
      const key = this.nameOf(kv);
      if (!key.startsWith('/')) return [];
      const current = type === putEvent ? this.arrived(kv) : undefined;
      return [{ revision: kv.mod_revision, key, current, previous: prev_kv && this.version(prev_kv) }];
    });
  }

  private version(kv: EtcdKeyValue): StoredVersion {
    const key = this.nameOf(kv);
    const { value, create_revision: createRevision, mod_revision, version } = kv;
    const stored: StoredVersion = { key, value, createRevision, modRevision: mod_revision, version };
    const trace = this.traces.of(key, mod_revision);
    if (trace !== undefined) stored.trace = trace;
    return stored;
  }

  /** What an event brings. */
  private arrived(kv: EtcdKeyValue): StoredVersion {
    const stored = this.version(kv);
    const trace = this.traces.ofEvent(stored.key, { revision: stored.modRevision, value: stored.value });
    if (trace !== undefined) stored.trace = trace;
    return stored;
  }

  private nameOf({ key }: EtcdKeyValue): string {
    return key.toString().slice(this.options.keyPrefix.length);
  }

  private wireKey(key: string): Buffer {
    return Buffer.from(this.options.keyPrefix + key);
  }
}

function rangeOf(prefix: string): WatchRange {
  const end = prefixEnd(prefix);
  return {
    key: prefix === '' ? toTheEnd : Buffer.from(prefix),
    range_end: end === undefined ? toTheEnd : Buffer.from(end),
  };
}

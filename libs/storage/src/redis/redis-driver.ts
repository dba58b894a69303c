import { realClock, realRandom, type Logger } from '@tinkernetes/component-base';
import type { Redis } from 'ioredis';
import { prefixEnd } from '../local/sorted-keys';
import type {
  ChangePage,
  CurrentRange,
  Driver,
  DriverListener,
  DriverState,
  StoredVersion,
  Write,
  WriteOutcome,
} from '../mvcc/driver';
import { StorageUnusableError } from '../types';
import { RedisConnection } from './connection';
import { pack, packTrace, unpack, unpackEntry, type LogEntry } from './packing';
import { sealAfterRestart } from './restart-seal';
import * as scripts from './scripts';
import { checkServer } from './server-check';

/** Of the keys and values in Redis. */
const formatVersion = 1;
const followCount = 1000;
/** Redis looks at a blocked reader at least this often, so that a dead connection is noticed. */
const blockMs = 20_000;
const followRetryMs = 500;
const loadBatch = 500;

export interface RedisOptions {
  url: string;
  /** Of all keys, so that several stores can share a database. */
  keyPrefix: string;
  /** For messages; without a password. */
  name: string;
  logger: Logger;
}

/** A store in Redis that several API servers may share. Each transaction is a Lua script; the log is a stream. */
export class RedisDriver implements Driver {
  readonly name: string;
  private readonly keys: readonly string[];
  private readonly log: string;
  private readonly commands: RedisConnection;
  private readonly follower: RedisConnection;
  /** Highest revision that this process has seen acknowledged; Redis must never be behind it. */
  private seen = 0;
  private followed = 0;
  private following: Promise<void> = Promise.resolve();
  private closed = false;

  constructor(private readonly options: RedisOptions) {
    const { name, url, logger, keyPrefix } = options;
    this.name = name;
    // Braces keep all keys in one slot of a Redis Cluster.
    this.keys = ['meta', 'data', 'index', 'log'].map((part) => `{${keyPrefix}}:${part}`);
    this.log = `{${keyPrefix}}:log`;
    const metaKey = this.keys[0] ?? '';
    this.commands = new RedisConnection({
      url,
      name,
      logger,
      verify: async (redis) => {
        await this.verifyRevision(redis);
        await sealAfterRestart(redis, { metaKey, name, logger });
      },
    });
    this.follower = new RedisConnection({ url, name, logger, verify: (redis) => this.verifyRevision(redis) });
  }

  async start(listener: DriverListener): Promise<DriverState> {
    try {
      await this.commands.run((redis) => checkServer(redis, this.options));
      const state = await this.open();
      this.seen = this.followed = state.revision;
      this.following = this.follow(listener);
      return state;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async state(): Promise<DriverState> {
    const [, revision, compactRevision] = (await this.commands.run((redis) =>
      redis.hmget(this.keys[0] ?? '', 'format', 'revision', 'compactRevision'),
    )) as string[];
    return { revision: this.saw(revision), compactRevision: Number(compactRevision) };
  }

  async read(key: string): Promise<{ revision: number; item: StoredVersion | undefined }> {
    const [revision, packed] = (await this.run(scripts.readScript, [key])) as [Buffer, Buffer | null];
    return { revision: this.saw(revision), item: packed ? unpack(key, packed) : undefined };
  }

  async readRange(
    prefix: string,
    { limit, startAfter, countOnly }: { limit?: number; startAfter?: string; countOnly?: boolean },
  ): Promise<CurrentRange> {
    const end = prefixEnd(prefix);
    const from = startAfter !== undefined && startAfter >= prefix ? `(${startAfter}` : `[${prefix}`;
    const to = end === undefined ? '+' : `(${end}`;
    const [revision, count, keys, versions] = (await this.run(scripts.rangeScript, [
      from,
      to,
      limit || -1,
      countOnly ? 0 : 1,
    ])) as [Buffer, number, Buffer[], Buffer[]];
    const items = keys.map((key, i) => unpack(key.toString(), versions[i] ?? Buffer.alloc(0)));
    return { revision: this.saw(revision), count, items };
  }

  write(write: Write): Promise<WriteOutcome> {
    const token = realRandom.hex(8);
    const since = this.seen;
    const attempt = (redis: Redis) => this.writeOnce(redis, write, token);
    // A broken connection leaves open whether the write was done. The log tells; only then may it be tried again.
    return this.commands.run(attempt, async (redis) => {
      const done = await this.findInLog(redis, since, token);
      if (done) return done;
      const outcome = await attempt(redis);
      if (outcome.kind === 'written') return outcome;
      return (await this.findInLog(redis, since, token)) ?? outcome;
    });
  }

  async readChanges(
    prefix: string,
    { after, upTo, limit }: { after: number; upTo: number; limit: number },
  ): Promise<ChangePage> {
    const entries = await this.readLog({ after, upTo, limit });
    const changes = entries.map((entry) => unpackEntry(entry).change);
    const reached = changes[limit - 1]?.revision ?? upTo;
    return { changes: changes.filter(({ key }) => key.startsWith(prefix)), reached };
  }

  async compact(revision: number): Promise<void> {
    await this.run(scripts.compactScript, [revision]);
  }

  async load(versions: AsyncIterable<StoredVersion>, revision: number): Promise<void> {
    const { revision: now } = await this.state();
    const { count } = await this.readRange('', { countOnly: true });
    if (count > 0 || now > 1)
      throw new StorageUnusableError('the store is not empty: restore a snapshot into a new one');
    let batch: (string | Buffer)[] = [];
    for await (const version of versions) {
      batch.push(version.key, pack(version));
      if (batch.length < 2 * loadBatch) continue;
      await this.run(scripts.loadScript, batch);
      batch = [];
    }
    if (batch.length > 0) await this.run(scripts.loadScript, batch);
    await this.run(scripts.finishLoadScript, [revision]);
    this.saw(revision);
    this.followed = revision;
  }

  async close(): Promise<void> {
    this.closed = true;
    this.commands.close();
    this.follower.close();
    await this.following;
  }

  private async open(): Promise<DriverState> {
    const [format, revision, compactRevision] = (
      (await this.run(scripts.openScript, [formatVersion])) as Buffer[]
    ).map(Number);
    if (format !== formatVersion) {
      throw new StorageUnusableError(
        `${this.name} holds a store of format ${format}, this program knows ${formatVersion}: use another database`,
      );
    }
    return { revision: revision ?? 1, compactRevision: compactRevision ?? 0 };
  }

  private async writeOnce(redis: Redis, write: Write, token: string): Promise<WriteOutcome> {
    const { key, expectedRevision, put } = write;
    const [revision, packed] = (await scripts.writeScript.run(redis, this.keys, [
      key,
      expectedRevision,
      put ? 1 : 0,
      put?.expiresAt ?? '-',
      packTrace(put?.trace),
      token,
      put?.value ?? '',
    ])) as [number, Buffer | null];
    const previous = packed ? unpack(key, packed) : undefined;
    if (revision === 0) return { kind: 'refused', current: previous };
    this.saw(revision);
    return {
      kind: 'written',
      change: { revision, key, current: currentOf(write, revision, previous), previous },
    };
  }

  private async findInLog(redis: Redis, after: number, token: string): Promise<WriteOutcome | undefined> {
    const entries = (await redis.callBuffer('XRANGE', [this.log, `${after + 1}-0`, '+'])) as LogEntry[];
    for (const entry of entries) {
      const found = unpackEntry(entry);
      if (found.token === token) return { kind: 'written', change: found.change };
    }
    return undefined;
  }

  private readLog({
    after,
    upTo,
    limit,
  }: {
    after: number;
    upTo: number;
    limit: number;
  }): Promise<LogEntry[]> {
    return this.commands.run(
      (redis) =>
        redis.callBuffer('XRANGE', [this.log, `${after + 1}-0`, `${upTo}-0`, 'COUNT', limit]) as Promise<
          LogEntry[]
        >,
    );
  }

  /** Reads the log as it grows. It goes on from the last entry seen, whatever happens to the connection. */
  private async follow(listener: DriverListener): Promise<void> {
    while (!this.closed) {
      try {
        const reply = (await this.follower.run((redis) =>
          redis.callBuffer('XREAD', [
            ...['COUNT', followCount, 'BLOCK', blockMs, 'STREAMS'],
            ...[this.log, `${this.followed}-0`],
          ]),
        )) as [Buffer, LogEntry[]][] | null;
        const changes = (reply?.[0]?.[1] ?? []).map((entry) => unpackEntry(entry).change);
        const [first, last] = [changes[0], changes[changes.length - 1]];
        if (!first || !last) continue;
        // Trimmed while we were away.
        if (first.revision > this.followed + 1) listener.onGap(first.revision - 1);
        this.followed = last.revision;
        this.saw(last.revision);
        listener.onChanges(changes, last.revision);
      } catch (error) {
        if (this.closed) return;
        this.options.logger.error({ err: error }, `can't follow the log of ${this.name}`);
        if (this.follower.failure) return listener.onFailure(this.follower.failure);
        await realClock.sleep(followRetryMs);
      }
    }
  }

  /** A Redis that was restarted without its newest writes must not be taken for the one that acknowledged them. */
  private async verifyRevision(redis: Redis): Promise<void> {
    // Other connections go on meanwhile: what counts is what had been seen when the question was asked.
    const { seen } = this;
    const revision = Number((await redis.hget(this.keys[0] ?? '', 'revision')) ?? 0);
    if (revision >= seen) return;
    throw new StorageUnusableError(
      `${this.name} has lost acknowledged writes (it is at revision ${revision}, it was at ${seen}): ` +
        'restart the API servers, and set "appendonly yes" and "appendfsync always" in Redis',
    );
  }

  private run(script: scripts.Script, args: readonly (string | number | Uint8Array)[]): Promise<unknown> {
    return this.commands.run((redis) => script.run(redis, this.keys, args));
  }

  private saw(revision: number | string | Buffer | undefined): number {
    const seen = Number(revision);
    this.seen = Math.max(this.seen, seen);
    return seen;
  }
}

function currentOf(
  { key, put }: Write,
  revision: number,
  previous: StoredVersion | undefined,
): StoredVersion | undefined {
  if (!put) return undefined;
  const current: StoredVersion = {
    key,
    value: put.value,
    createRevision: previous?.createRevision ?? revision,
    modRevision: revision,
    version: (previous?.version ?? 0) + 1,
  };
  if (put.trace !== undefined) current.trace = put.trace;
  if (put.expiresAt !== undefined) current.expiresAt = put.expiresAt;
  return current;
}

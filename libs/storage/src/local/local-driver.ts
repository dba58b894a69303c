import type {
  Change,
  CurrentRange,
  Driver,
  DriverListener,
  DriverState,
  StoredVersion,
  Write,
  WriteOutcome,
} from '../mvcc/driver';
import { StorageUnusableError } from '../types';
import type { Journal } from './journal';
import { SortedKeys } from './sorted-keys';

interface Queued {
  change: Change;
  resolve(outcome: WriteOutcome): void;
  reject(error: unknown): void;
}

/**
 * A store owned by this process: the current versions in memory, everything else in a journal.
 *
 * Guards are compared here against the newest assigned version, so writes to one key need not wait for each other;
 * reads and watchers see a write only once the journal has it. All writes that arrive while the journal is busy go
 * to it together (group commit).
 */
export class LocalDriver implements Driver {
  private readonly current = new Map<string, StoredVersion>();
  private readonly keys = new SortedKeys();
  /** Newest assigned change of each key whose change the journal has not confirmed. */
  private readonly unconfirmed = new Map<string, Change>();
  private queue: Queued[] = [];
  private committing = false;
  private flushScheduled = false;
  private idleWaiters: (() => void)[] = [];
  private revision = 1;
  private assigned = 1;
  private compactRevision = 0;
  private failure: StorageUnusableError | undefined;
  private listener: DriverListener | undefined;

  constructor(
    private readonly journal: Journal,
    private readonly observeBatch: (size: number) => void = () => undefined,
  ) {}

  get name(): string {
    return this.journal.name;
  }

  async start(listener: DriverListener): Promise<DriverState> {
    const state = await this.journal.open((versions) => this.adopt(versions));
    this.revision = this.assigned = state.revision;
    this.compactRevision = state.compactRevision;
    this.listener = listener;
    return state;
  }

  async state(): Promise<DriverState> {
    return { revision: this.revision, compactRevision: this.compactRevision };
  }

  async read(key: string): Promise<{ revision: number; item: StoredVersion | undefined }> {
    return { revision: this.revision, item: this.current.get(key) };
  }

  async readRange(
    prefix: string,
    { limit, startAfter, countOnly }: { limit?: number; startAfter?: string; countOnly?: boolean },
  ): Promise<CurrentRange> {
    const keys = countOnly ? [] : this.keys.slice(prefix, startAfter, limit || Infinity);
    const items: StoredVersion[] = [];
    for (const key of keys) {
      const item = this.current.get(key);
      if (item) items.push(item);
    }
    const whole = !countOnly && (!limit || keys.length < limit);
    return {
      revision: this.revision,
      items,
      count: whole ? items.length : this.keys.count(prefix, startAfter),
    };
  }

  write(write: Write): Promise<WriteOutcome> {
    if (this.failure) return Promise.reject(this.failure);
    const { key, expectedRevision } = write;
    const newest = this.unconfirmed.get(key);
    const head = newest ? newest.current : this.current.get(key);
    if ((head?.modRevision ?? 0) !== expectedRevision) return this.refuse(newest !== undefined, head);
    const change: Change = { revision: ++this.assigned, key, current: undefined, previous: head };
    if (write.put) change.current = nextVersion(write, change.revision, head);
    this.unconfirmed.set(key, change);
    return new Promise((resolve, reject) => {
      this.queue.push({ change, resolve, reject });
      this.scheduleFlush();
    });
  }

  readChanges(prefix: string, options: { after: number; upTo: number; limit: number }) {
    return this.journal.readChanges(prefix, options);
  }

  async compact(revision: number): Promise<void> {
    this.compactRevision = Math.max(this.compactRevision, revision);
    await this.journal.compact(revision);
  }

  async load(versions: AsyncIterable<StoredVersion>, revision: number): Promise<void> {
    if (this.current.size > 0 || this.assigned > 1) {
      throw new StorageUnusableError('the store is not empty: restore a snapshot into a new one');
    }
    const all: StoredVersion[] = [];
    for await (const version of versions) all.push(version);
    await this.journal.load(all, revision);
    this.adopt(all);
    this.revision = this.assigned = this.compactRevision = revision;
  }

  async close(): Promise<void> {
    await this.settled();
    await this.journal.close();
  }

  private adopt(versions: StoredVersion[]): void {
    for (const version of versions) {
      this.current.set(version.key, version);
      this.keys.add(version.key);
    }
  }

  /** A refusal that rests on an unconfirmed version must not be told before that version is durable. */
  private async refuse(unconfirmed: boolean, current: StoredVersion | undefined): Promise<WriteOutcome> {
    if (unconfirmed) await this.settled();
    if (this.failure) throw this.failure;
    return { kind: 'refused', current };
  }

  private settled(): Promise<void> {
    if (!this.committing && this.queue.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.idleWaiters.push(resolve));
  }

  private scheduleFlush(): void {
    if (this.committing || this.flushScheduled) return;
    this.flushScheduled = true;
    // After the poll phase: all requests that this turn of the loop has read share one commit.
    setImmediate(() => {
      this.flushScheduled = false;
      void this.flush();
    });
  }

  private async flush(): Promise<void> {
    this.committing = true;
    while (this.queue.length > 0 && !this.failure) {
      const batch = this.queue;
      this.queue = [];
      this.observeBatch(batch.length);
      try {
        const durable = this.journal.append(batch.map((queued) => queued.change));
        if (durable) await durable;
        this.confirm(batch);
      } catch (cause) {
        this.fail(batch, cause);
      }
    }
    this.committing = false;
    const waiters = this.idleWaiters;
    this.idleWaiters = [];
    for (const wake of waiters) wake();
  }

  private confirm(batch: Queued[]): void {
    const changes = batch.map((queued) => queued.change);
    for (const change of changes) {
      const { key, current } = change;
      this.revision = change.revision;
      if (this.unconfirmed.get(key) === change) this.unconfirmed.delete(key);
      if (current) {
        if (!this.current.has(key)) this.keys.add(key);
        this.current.set(key, current);
      } else {
        this.current.delete(key);
        this.keys.delete(key);
      }
    }
    this.listener?.onChanges(changes, this.revision);
    for (const { change, resolve } of batch) resolve({ kind: 'written', change });
  }

  /** What the journal holds is unknown now; only a restart, which reads it, can tell. */
  private fail(batch: Queued[], cause: unknown): void {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const failure = new StorageUnusableError(`${this.name}: a write failed (${reason}); restart the server`, {
      cause,
    });
    this.failure = failure;
    this.listener?.onFailure(failure);
    for (const queued of [...batch, ...this.queue]) queued.reject(failure);
    this.queue = [];
  }
}

function nextVersion(write: Write, revision: number, head: StoredVersion | undefined): StoredVersion {
  const version: StoredVersion = {
    key: write.key,
    value: write.put?.value ?? new Uint8Array(),
    createRevision: head?.createRevision ?? revision,
    modRevision: revision,
    version: (head?.version ?? 0) + 1,
  };
  if (write.put?.trace !== undefined) version.trace = write.put.trace;
  if (write.put?.expiresAt !== undefined) version.expiresAt = write.put.expiresAt;
  return version;
}

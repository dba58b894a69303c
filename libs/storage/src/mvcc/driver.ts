import type { KeyValue } from '../types';

/** A key's version as drivers keep it. */
export interface StoredVersion extends KeyValue {
  /** Epoch milliseconds after which the key is to be deleted. */
  expiresAt?: number;
}

/** What one revision did. */
export interface Change {
  revision: number;
  key: string;
  /** Undefined: the key was deleted. */
  current: StoredVersion | undefined;
  previous: StoredVersion | undefined;
}

/** One guarded write. `expectedRevision` 0: the key must not exist. */
export interface Write {
  key: string;
  expectedRevision: number;
  /** Undefined: delete. */
  put?: { value: Uint8Array; trace?: string; expiresAt?: number };
}
export type WriteOutcome =
  { kind: 'written'; change: Change } | { kind: 'refused'; current: KeyValue | undefined };

export interface DriverState {
  /** Of the last write; 1 in an empty store, as in etcd. */
  revision: number;
  /** Changes up to and including this revision may be forgotten. */
  compactRevision: number;
}

export interface CurrentRange {
  revision: number;
  /** All keys under the prefix after `startAfter`. */
  count: number;
  /** In key order; the first `limit`, or all. */
  items: StoredVersion[];
}

export interface RangeAt {
  revision: number;
  limit?: number;
  startAfter?: string;
  countOnly?: boolean;
}

/** Changes with revision > `after` and <= `reached`, in order; `reached` < `upTo` means: ask again from there. */
export interface ChangePage {
  changes: Change[];
  reached: number;
}

export interface DriverListener {
  /** All changes up to `revision` have been told. */
  onChanges(changes: Change[], revision: number): void;
  /** Changes up to `revision` were missed: they are to be read from history, if they are still there. */
  onGap(revision: number): void;
  /** The store can't be used any more. */
  onFailure(error: Error): void;
}

/**
 * What a storage product must offer; history, watches, expiry, compaction policy and snapshots are built on it once,
 * in `MvccStorage`. Reads see exactly the acknowledged writes. All may reject with StorageUnusableError.
 */
export interface Driver {
  readonly name: string;
  /** The product deletes keys by itself when their time has passed. */
  readonly expiresByItself?: boolean;
  /** What is loaded gets new revisions and is told to the listener as any other change. */
  readonly numbersByItself?: boolean;
  /** Starts telling `listener` of every change after the revision returned, each once and in order. */
  start(listener: DriverListener): Promise<DriverState>;
  state(): Promise<DriverState>;
  read(key: string): Promise<{ revision: number; item: StoredVersion | undefined }>;
  readRange(
    prefix: string,
    options: { limit?: number; startAfter?: string; countOnly?: boolean },
  ): Promise<CurrentRange>;
  /** Reads as of an older revision, where the product can do that itself. Rejects as `Storage.range`. */
  readRangeAt?(prefix: string, options: RangeAt): Promise<CurrentRange>;
  /** Compares and writes atomically; resolves once durable. */
  write(write: Write): Promise<WriteOutcome>;
  /** The kept history of keys under `prefix`. */
  readChanges(prefix: string, options: { after: number; upTo: number; limit: number }): Promise<ChangePage>;
  /** Forgets changes up to and including `revision`. */
  compact(revision: number): Promise<void>;
  /** Fills an empty store with versions as they were at `revision`; history before it counts as compacted. */
  load(versions: AsyncIterable<StoredVersion>, revision: number): Promise<void>;
  close(): Promise<void>;
}

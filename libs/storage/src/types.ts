/**
 * Storage with etcd v3 semantics: one global revision counts all writes; a key's versions are kept until compacted.
 * Keys are upstream's (`/registry/pods/default/web-1`), values are bytes.
 */
export interface KeyValue {
  key: string;
  value: Uint8Array;
  createRevision: number;
  modRevision: number;
  /** Writes since creation, from 1. */
  version: number;
  /** Trace context that was written beside the value; not part of its bytes. */
  trace?: string;
}

export interface RangeOptions {
  /** First `limit` keys in key order; 0 or unset: all. */
  limit?: number;
  /** Read as of this revision; unset: now. Throws CompactedError or FutureRevisionError. */
  revision?: number;
  /** Start after this key (exclusive) within the prefix. */
  startAfter?: string;
  /** Count only. */
  countOnly?: boolean;
}
export interface RangeResult {
  /** The revision that was read. */
  revision: number;
  items: KeyValue[];
  /** All keys under the prefix (after `startAfter`), whatever the limit. */
  count: number;
}

/** The guard failed: what is there now (undefined: nothing). */
export class GuardFailedError extends Error {
  override readonly name = 'GuardFailedError';
  constructor(
    readonly key: string,
    readonly current: KeyValue | undefined,
  ) {
    super(`guarded write of ${key} failed`);
  }
}
export class CompactedError extends Error {
  override readonly name = 'CompactedError';
  constructor(
    readonly requested: number,
    readonly compactRevision: number,
  ) {
    super(`revision ${requested} has been compacted (oldest kept: ${compactRevision})`);
  }
}
export class FutureRevisionError extends Error {
  override readonly name = 'FutureRevisionError';
  constructor(
    readonly requested: number,
    readonly current: number,
  ) {
    super(`revision ${requested} is newer than the current one, ${current}`);
  }
}
/** The store can't be opened or used; the message says what to do. */
export class StorageUnusableError extends Error {
  override readonly name = 'StorageUnusableError';
}

export interface StorageEvent {
  type: 'PUT' | 'DELETE';
  revision: number;
  key: string;
  /** PUT: the new version. DELETE: key and revisions only, `value` is empty. */
  current: KeyValue;
  /** What was there before, if anything. */
  previous?: KeyValue;
}
/** Events of one or more whole revisions in order, or a mark that all up to `revision` have been delivered. */
export type StorageBatch =
  { kind: 'events'; events: StorageEvent[]; revision: number } | { kind: 'progress'; revision: number };

export interface PutOptions {
  /** Seconds; the key is deleted (with a DELETE event) when they have passed (Events). */
  ttlSeconds?: number;
  trace?: string;
}

export interface Storage {
  get(
    key: string,
    options?: { revision?: number },
  ): Promise<{ revision: number; item: KeyValue | undefined }>;
  range(prefix: string, options?: RangeOptions): Promise<RangeResult>;
  /** Throws GuardFailedError when the key exists. Resolves once the write is as durable as the driver promises. */
  create(key: string, value: Uint8Array, options?: PutOptions): Promise<KeyValue>;
  /** Throws GuardFailedError unless the key's modRevision is `expectedRevision`. */
  update(key: string, value: Uint8Array, expectedRevision: number, options?: PutOptions): Promise<KeyValue>;
  /** Returns the deleted version and the revision of the deletion. Throws GuardFailedError as `update`. */
  delete(key: string, expectedRevision: number): Promise<{ revision: number; previous: KeyValue }>;
  /**
   * All changes under `prefix` with revision > `afterRevision`, without gap or duplicate, until the signal aborts.
   * Throws CompactedError when some are no longer kept.
   */
  watch(prefix: string, options: { afterRevision: number; signal: AbortSignal }): AsyncIterable<StorageBatch>;
  currentRevision(): Promise<number>;
  /** Forgets versions older than `revision`; the newest version of each key is always kept. */
  compact(revision: number): Promise<void>;
  /** A consistent copy of everything at one revision, restorable with `restore` into an empty store. */
  snapshot(): AsyncIterable<Uint8Array>;
  restore(chunks: AsyncIterable<Uint8Array>): Promise<void>;
  close(): Promise<void>;
}

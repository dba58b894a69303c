import type { Change, ChangePage, DriverState, StoredVersion } from '../mvcc/driver';

/**
 * Where a store that belongs to one process keeps its history. The current state is held in memory above it
 * (`LocalDriver`), so a journal only appends, and reads back what is older.
 */
export interface Journal {
  readonly name: string;
  /** Opens it and hands over the current versions. Throws StorageUnusableError. */
  open(onVersions: (versions: StoredVersion[]) => void): Promise<DriverState>;
  /** Resolves when the changes are durable; undefined: they already are. Changes come in revision order. */
  append(changes: Change[]): Promise<void> | undefined;
  readChanges(prefix: string, options: { after: number; upTo: number; limit: number }): Promise<ChangePage>;
  compact(revision: number): Promise<void>;
  /** Replaces the empty content. */
  load(versions: StoredVersion[], revision: number): Promise<void>;
  close(): Promise<void>;
}

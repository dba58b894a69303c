import type { DriverState } from '../mvcc/driver';

/** A row of the table `versions`: what one revision did to one key. */
export interface VersionRow {
  revision: number;
  key: string;
  createRevision: number;
  /** Writes since creation; 0: the key was deleted. */
  version: number;
  /** Revision of the version before, 0 if there was none. */
  previous: number;
  expiresAt: number | null;
  trace: string | null;
  value: Uint8Array;
}

/** A row to be written; its value is `bytes` long and follows the one of the row before in the request's buffer. */
export type PackedRow = Omit<VersionRow, 'value'> & { bytes: number };

export type WorkerRequest =
  | { op: 'open' }
  | { op: 'append'; rows: PackedRow[]; values: ArrayBuffer }
  | { op: 'changes'; after: number; upTo: number; limit: number; from: string; to: string }
  | { op: 'compact'; after: number; upTo: number }
  | { op: 'load'; rows: PackedRow[]; values: ArrayBuffer; revision: number }
  | { op: 'close' };

export interface ChangeRows {
  changed: VersionRow;
  before: VersionRow | undefined;
}
export interface WorkerResults {
  open: DriverState;
  append: undefined;
  changes: ChangeRows[];
  compact: undefined;
  load: undefined;
  close: undefined;
}

export interface WorkerFailure {
  kind: 'busy' | 'damaged' | 'foreign' | 'newer' | 'other';
  message: string;
}
export type WorkerMessage =
  | { type: 'versions'; rows: VersionRow[] }
  | { type: 'done'; id: number; result: unknown }
  | { type: 'failed'; id: number; failure: WorkerFailure };

export interface WorkerData {
  file: string;
  /** Absolute path of the package `libsql`; undefined: use `node:sqlite`. */
  libsql: string | undefined;
  applicationId: number;
  /** SQL that leads from schema version i to i + 1. */
  migrations: readonly string[];
}

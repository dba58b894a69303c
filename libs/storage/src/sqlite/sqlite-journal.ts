import type { Journal } from '../local/journal';
import { prefixEnd } from '../local/sorted-keys';
import type { Change, ChangePage, DriverState, StoredVersion } from '../mvcc/driver';
import type { PackedRow, VersionRow } from './protocol';
import { SqliteWorkerClient } from './worker-client';

/** Revisions that one step of a compaction covers: writes wait for a step, not for a whole compaction. */
const compactionStep = 1000;
const greatestKey = '\u{10ffff}';
const noValue = new Uint8Array();

/** The history as rows of a SQLite database, which one thread owns. */
export class SqliteJournal implements Journal {
  readonly name: string;
  private readonly worker: SqliteWorkerClient;
  private compactRevision = 0;

  constructor(file: string) {
    this.name = `sqlite:${file}`;
    this.worker = new SqliteWorkerClient(file);
  }

  async open(onVersions: (versions: StoredVersion[]) => void): Promise<DriverState> {
    this.worker.onVersions = (rows) => onVersions(rows.map(versionOf));
    try {
      const state = await this.worker.call({ op: 'open' });
      this.compactRevision = state.compactRevision;
      return state;
    } catch (error) {
      await this.worker.close();
      throw error;
    }
  }

  append(changes: Change[]): Promise<void> {
    const { rows, values } = pack(changes.map(rowOf));
    return this.worker.call({ op: 'append', rows, values }, [values]);
  }

  async readChanges(
    prefix: string,
    { after, upTo, limit }: { after: number; upTo: number; limit: number },
  ): Promise<ChangePage> {
    const to = prefixEnd(prefix) ?? greatestKey;
    const found = await this.worker.call({ op: 'changes', after, upTo, limit, from: prefix, to });
    const changes = found.map(({ changed, before }) => ({
      revision: changed.revision,
      key: changed.key,
      current: changed.version > 0 ? versionOf(changed) : undefined,
      previous: before && versionOf(before),
    }));
    const last = found[limit - 1];
    return { changes, reached: last ? last.changed.revision : upTo };
  }

  async compact(revision: number): Promise<void> {
    while (this.compactRevision < revision) {
      const upTo = Math.min(revision, this.compactRevision + compactionStep);
      await this.worker.call({ op: 'compact', after: this.compactRevision, upTo });
      this.compactRevision = upTo;
    }
  }

  async load(versions: StoredVersion[], revision: number): Promise<void> {
    const { rows, values } = pack(
      versions.map((version) =>
        rowOf({ ...version, revision: version.modRevision, current: version, previous: undefined }),
      ),
    );
    await this.worker.call({ op: 'load', rows, values, revision }, [values]);
    this.compactRevision = revision;
  }

  close(): Promise<void> {
    return this.worker.close();
  }
}

function rowOf({ revision, key, current, previous }: Change): VersionRow {
  return {
    revision,
    key,
    createRevision: current?.createRevision ?? 0,
    version: current?.version ?? 0,
    previous: previous?.modRevision ?? 0,
    expiresAt: current?.expiresAt ?? null,
    trace: current?.trace ?? null,
    value: current?.value ?? noValue,
  };
}

function versionOf(row: VersionRow): StoredVersion {
  const { key, value, createRevision, revision: modRevision, version, expiresAt, trace } = row;
  const stored: StoredVersion = { key, value, createRevision, modRevision, version };
  if (expiresAt !== null) stored.expiresAt = expiresAt;
  if (trace !== null) stored.trace = trace;
  return stored;
}

/** One buffer for all values, which is handed over instead of copied. */
function pack(rows: VersionRow[]): { rows: PackedRow[]; values: ArrayBuffer } {
  const packed = new Uint8Array(rows.reduce((sum, row) => sum + row.value.length, 0));
  let at = 0;
  const described = rows.map(({ value, ...rest }) => {
    packed.set(value, at);
    at += value.length;
    return { ...rest, bytes: value.length };
  });
  return { rows: described, values: packed.buffer };
}

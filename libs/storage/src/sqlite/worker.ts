import type {
  VersionRow,
  ChangeRows,
  PackedRow,
  WorkerData,
  WorkerFailure,
  WorkerMessage,
  WorkerRequest,
} from './protocol';

type SqlValue = string | number | null | Uint8Array | ArrayBuffer;
type SqlRow = Record<string, SqlValue>;
interface Statement {
  run(...values: SqlValue[]): unknown;
  get(...values: SqlValue[]): SqlRow | undefined;
  all(...values: SqlValue[]): SqlRow[];
  iterate(...values: SqlValue[]): Iterable<SqlRow>;
}
/** What `node:sqlite` and `libsql` have in common. */
interface Database {
  exec(sql: string): unknown;
  prepare(sql: string): Statement;
  close(): void;
}

/**
 * The thread that owns the database file: it waits for the disk so that the event loop need not.
 *
 * It is started from this function's source text, which works alike in a bundle and under a test runner. So the
 * function must be self-contained: nothing from outside but its parameter and types.
 */
export function sqliteWorker(requireModule: NodeJS.Require): void {
  const { parentPort, workerData } = requireModule(
    'node:worker_threads',
  ) as typeof import('node:worker_threads');
  const { file, libsql, applicationId, migrations } = workerData as WorkerData;
  const loadedRowsPerMessage = 1000;

  class Refusal extends Error {
    constructor(
      readonly kind: WorkerFailure['kind'],
      message: string,
    ) {
      super(message);
    }
  }

  const send = (message: WorkerMessage, transfer: ArrayBuffer[] = []) =>
    parentPort?.postMessage(message, transfer);

  const openFile = (): Database => {
    if (libsql !== undefined) {
      const LibsqlDatabase = requireModule(libsql) as new (path: string) => Database;
      return new LibsqlDatabase(file);
    }
    // node:sqlite announces that it is experimental; the operator can do nothing about that.
    process.emitWarning = () => undefined;
    const { DatabaseSync } = requireModule('node:sqlite') as { DatabaseSync: new (path: string) => Database };
    return new DatabaseSync(file);
  };

  const db = { current: undefined as Database | undefined };
  const database = (): Database => {
    if (!db.current) throw new Refusal('other', 'the database is not open');
    return db.current;
  };
  const prepared = new Map<string, Statement>();
  const prepare = (sql: string): Statement => {
    const known = prepared.get(sql);
    if (known) return known;
    const statement = database().prepare(sql);
    prepared.set(sql, statement);
    return statement;
  };
  const pragma = (name: string) => Object.values(database().prepare(`PRAGMA ${name}`).get() ?? {})[0];

  const inTransaction = (work: () => void) => {
    database().exec('BEGIN IMMEDIATE');
    try {
      work();
      database().exec('COMMIT');
    } catch (error) {
      rollBack();
      throw error;
    }
  };
  /** After some errors (a full disk) SQLite has rolled back by itself, and says so. */
  const rollBack = () => {
    try {
      database().exec('ROLLBACK');
    } catch (error) {
      if (!String(error).includes('no transaction is active')) throw error;
    }
  };

  /** The schema version of the file. Refuses what is not ours before anything in it is changed. */
  const identify = (): number => {
    const version = Number(pragma('user_version'));
    const tables = Number(database().prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.n);
    if (tables > 0 && Number(pragma('application_id')) !== applicationId)
      throw new Refusal('foreign', 'it is a database of another program');
    if (version > migrations.length)
      throw new Refusal('newer', `its schema version is ${version}, this program knows ${migrations.length}`);
    return version;
  };

  const migrate = (version: number) => {
    if (version === migrations.length) return;
    inTransaction(() => {
      for (const sql of migrations.slice(version)) database().exec(sql);
      database().exec(`PRAGMA application_id = ${applicationId}`);
      database().exec(`PRAGMA user_version = ${migrations.length}`);
    });
  };

  const rowOf = (row: SqlRow, prefix = ''): VersionRow => {
    const value = row[`${prefix}value`];
    return {
      revision: Number(row[`${prefix}revision`]),
      key: String(row[`${prefix}key`]),
      createRevision: Number(row[`${prefix}create_revision`]),
      version: Number(row[`${prefix}version`]),
      previous: Number(row[`${prefix}previous`]),
      expiresAt: row[`${prefix}expires_at`] as number | null,
      trace: row[`${prefix}trace`] as string | null,
      value: value instanceof Uint8Array ? value : new Uint8Array(value as ArrayBuffer),
    };
  };
  const buffersOf = (rows: VersionRow[]): ArrayBuffer[] =>
    rows.map((row) => row.value.buffer).filter((buffer): buffer is ArrayBuffer => buffer.byteLength > 0);

  const open = () => {
    db.current = openFile();
    // Exclusive: a second server is turned away, and no shared-memory file is needed.
    pragma('locking_mode = EXCLUSIVE');
    const version = identify();
    pragma('journal_mode = WAL');
    pragma('synchronous = FULL');
    database().exec('BEGIN EXCLUSIVE; COMMIT');
    const check = String(pragma('quick_check(1)'));
    if (check !== 'ok') throw new Refusal('damaged', check);
    migrate(version);
    const compactRevision = Number(
      prepare(`SELECT value FROM meta WHERE name = 'compact_revision'`).get()?.value,
    );
    const last = Number(prepare('SELECT max(revision) AS last FROM versions').get()?.last ?? 0);
    sendCurrentVersions();
    return { revision: Math.max(1, last, compactRevision), compactRevision };
  };

  const sendCurrentVersions = () => {
    let rows: VersionRow[] = [];
    const flush = () => {
      send({ type: 'versions', rows }, buffersOf(rows));
      rows = [];
    };
    const newest = prepare(
      `SELECT * FROM versions AS v WHERE version > 0
         AND NOT EXISTS (SELECT 1 FROM versions AS n WHERE n.key = v.key AND n.revision > v.revision)`,
    );
    for (const row of newest.iterate()) {
      rows.push(rowOf(row));
      if (rows.length === loadedRowsPerMessage) flush();
    }
    flush();
  };

  const insert = (rows: PackedRow[], values: ArrayBuffer) => {
    const statement = prepare('INSERT INTO versions VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
    let at = 0;
    for (const row of rows) {
      const value = Buffer.from(values, at, row.bytes);
      at += row.bytes;
      const { revision, key, createRevision, version, previous, expiresAt, trace } = row;
      statement.run(revision, key, createRevision, version, previous, expiresAt, trace, value);
    }
  };

  const changes = (request: Extract<WorkerRequest, { op: 'changes' }>): ChangeRows[] => {
    // `+v.key`: walk the log by revision, don't sort what the key index finds.
    const rows = prepare(
      `SELECT v.*, p.revision AS p_revision, p.key AS p_key, p.create_revision AS p_create_revision,
              p.version AS p_version, p.previous AS p_previous, p.expires_at AS p_expires_at, p.trace AS p_trace,
              p.value AS p_value
         FROM versions AS v LEFT JOIN versions AS p ON p.revision = v.previous
        WHERE v.revision > ? AND v.revision <= ? AND +v.key >= ? AND +v.key < ? ORDER BY v.revision LIMIT ?`,
    ).all(request.after, request.upTo, request.from, request.to, request.limit);
    return rows.map((row) => ({
      changed: rowOf(row),
      before: row.p_revision === null ? undefined : rowOf(row, 'p_'),
    }));
  };

  /** Each revision in the window made the version before it history; a deletion is history itself. */
  const compact = (after: number, upTo: number) =>
    inTransaction(() => {
      const superseded = 'SELECT previous FROM versions WHERE revision > ? AND revision <= ?';
      prepare(`DELETE FROM versions WHERE revision IN (${superseded})`).run(after, upTo);
      prepare('DELETE FROM versions WHERE revision > ? AND revision <= ? AND version = 0').run(after, upTo);
      setCompactRevision(upTo);
    });
  const setCompactRevision = (revision: number) =>
    prepare(`UPDATE meta SET value = ? WHERE name = 'compact_revision'`).run(revision);

  const handle = (request: WorkerRequest): unknown => {
    switch (request.op) {
      case 'open':
        return open();
      case 'append':
        return inTransaction(() => insert(request.rows, request.values));
      case 'changes':
        return changes(request);
      case 'compact':
        return compact(request.after, request.upTo);
      case 'load':
        return inTransaction(() => {
          insert(request.rows, request.values);
          setCompactRevision(request.revision);
        });
      case 'close':
        prepared.clear();
        db.current?.close();
        db.current = undefined;
        return undefined;
    }
  };

  const failureOf = (error: unknown): WorkerFailure => {
    const { message, code, errcode } = error as { message: string; code?: unknown; errcode?: number };
    if (error instanceof Refusal) return { kind: error.kind, message };
    const named = typeof code === 'string' ? code : '';
    const primary = (errcode ?? 0) & 0xff;
    if (
      named.startsWith('SQLITE_BUSY') ||
      named.startsWith('SQLITE_LOCKED') ||
      primary === 5 ||
      primary === 6
    )
      return { kind: 'busy', message };
    if (named.startsWith('SQLITE_CORRUPT') || named === 'SQLITE_NOTADB' || primary === 11 || primary === 26)
      return { kind: 'damaged', message };
    return { kind: 'other', message };
  };

  parentPort?.on('message', ({ id, request }: { id: number; request: WorkerRequest }) => {
    try {
      send({ type: 'done', id, result: handle(request) });
    } catch (error) {
      send({ type: 'failed', id, failure: failureOf(error) });
    }
    if (request.op === 'close') parentPort.close();
  });
}

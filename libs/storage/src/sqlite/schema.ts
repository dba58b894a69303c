/** Marks a database file as ours (`PRAGMA application_id`): "tknt". */
export const applicationId = 0x746b6e74;

/**
 * SQL from schema version i to i + 1 (`PRAGMA user_version`). Only ever append: files of every older version are
 * brought up to date when they are opened.
 */
export const migrations: readonly string[] = [
  // The revision is the row id, so that the history is a log to SQLite, too: written at its end, trimmed at its start.
  `CREATE TABLE versions (
     revision INTEGER PRIMARY KEY,
     key TEXT NOT NULL,
     create_revision INTEGER NOT NULL,
     version INTEGER NOT NULL,
     previous INTEGER NOT NULL,
     expires_at INTEGER,
     trace TEXT,
     value BLOB NOT NULL
   );
   CREATE UNIQUE INDEX versions_by_key ON versions (key, revision);
   CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
   INSERT INTO meta (name, value) VALUES ('compact_revision', 0);`,
];

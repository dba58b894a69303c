import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { LocalDriver } from '../local/local-driver';
import { MvccStorage, type MvccOptions } from '../mvcc/mvcc-storage';
import { StorageUnusableError, type Storage } from '../types';
import { SqliteJournal } from './sqlite-journal';

/**
 * A store in one file that survives `kill -9` and power loss: every acknowledged write has been synced to disk.
 * Writes that arrive while the disk is busy share the next sync. Throws StorageUnusableError when the file is
 * damaged, newer than this program, another program's or in use; it is left as it was.
 */
export async function openSqliteStorage(file: string, options: MvccOptions): Promise<Storage> {
  makeFile(file);
  const driver = new LocalDriver(new SqliteJournal(file), options.observeBatch);
  return MvccStorage.open(driver, options);
}

/** It will hold Secrets: only its owner may read it. */
function makeFile(file: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    closeSync(openSync(file, 'a', 0o600));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new StorageUnusableError(
      `${file} can't be opened (${reason}): choose a file in a writable folder`,
      { cause },
    );
  }
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { storageContract } from '../testing';
import { openSqliteStorage } from './open-sqlite-storage';

describe('sqlite storage', () => {
  const folder = mkdtempSync(join(tmpdir(), 'storage-'));
  let files = 0;
  afterAll(() => rmSync(folder, { recursive: true }));

  storageContract({
    create: ({ clock }) => openSqliteStorage(join(folder, `${files++}.db`), { clock, keepHistoryMs: 0 }),
    modelRuns: 15,
  });
});

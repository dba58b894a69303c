import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realClock } from '@tinkernetes/component-base';
import { SeededRandom } from '@tinkernetes/component-base/testing';
import { bundleProgram } from '../testing/bundle-program';
import { collectAcknowledged, verifyAcknowledged, type Acknowledged } from '../testing/crash-rounds';
import { openSqliteStorage } from './open-sqlite-storage';

const rounds = Number(process.env.CRASH_ROUNDS ?? 20);

it(
  `has every acknowledged write after ${rounds} kills under concurrent writers`,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'storage-'));
    const file = join(folder, 'store.db');
    const bundle = bundleProgram({ file: join(__dirname, '../testing/crash-writers.ts') });
    const random = new SeededRandom(7);
    const acknowledged: Acknowledged = new Map();
    try {
      for (let round = 0; round < rounds; round++) {
        const found = await collectAcknowledged(
          [bundle.path, `sqlite:${file}`, String(round), '8'],
          async (child) => {
            await realClock.sleep(random.next() * 150);
            child.kill('SIGKILL');
          },
        );
        for (const [revision, write] of found) acknowledged.set(revision, write);
        const storage = await openSqliteStorage(file, { clock: realClock, keepHistoryMs: 0 });
        await verifyAcknowledged(storage, acknowledged);
        await storage.close();
      }
      expect(acknowledged.size).toBeGreaterThan(rounds * 10);
    } finally {
      bundle.remove();
      rmSync(folder, { recursive: true });
    }
  },
  rounds * 5_000,
);

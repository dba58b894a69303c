import { realClock } from '@tinkernetes/component-base';
import { silentLogger } from '@tinkernetes/component-base/testing';
import { openStorage } from '../open-storage';
import { GuardFailedError, type Storage } from '../types';

/**
 * The process that a crash test kills: `node crash-writers SPEC ROUND WRITERS`. Each writer creates, updates and
 * deletes keys, its own and shared ones, and prints `KEY REVISION VALUE` (value `-`: deleted) for each
 * acknowledged write.
 */
async function main(spec: string, round: string, writers: number): Promise<void> {
  const storage = await openStorage(spec, { clock: realClock, logger: silentLogger, keepHistoryMs: 0 });
  process.stdout.write('started\n');
  await Promise.all(Array.from({ length: writers }, (_, i) => write(storage, `${round}-${i}`)));
}

async function write(storage: Storage, writer: string): Promise<never> {
  for (let n = 0; ; n++) {
    const key = n % 3 === 0 ? `/crash/shared/${n % 7}` : `/crash/own/${writer}/${n % 10}`;
    const value = `${writer}.${n}.${'x'.repeat((n * 37) % 900)}`;
    try {
      await writeOnce(storage, { key, value, remove: n % 5 === 4 });
    } catch (error) {
      if (!(error instanceof GuardFailedError)) throw error;
    }
  }
}

async function writeOnce(
  storage: Storage,
  { key, value, remove }: { key: string; value: string; remove: boolean },
): Promise<void> {
  const { item } = await storage.get(key);
  if (item && remove) {
    const { revision } = await storage.delete(key, item.modRevision);
    process.stdout.write(`${key} ${revision} -\n`);
    return;
  }
  const written = item
    ? await storage.update(key, Buffer.from(value), item.modRevision)
    : await storage.create(key, Buffer.from(value));
  process.stdout.write(`${key} ${written.modRevision} ${value}\n`);
}

const [spec = '', round = '0', writers = '8'] = process.argv.slice(2);
void main(spec, round, Number(writers));

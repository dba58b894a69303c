import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createLogger, parseFlags, realClock, UsageError } from '@tinkernetes/component-base';
import { askCluster } from '../cluster/control-socket';
import { ClusterLayout } from '../cluster/layout';
import { dataDirFlag } from '../options';
import type { Command } from './command';

/**
 * Copies all objects of a stopped cluster to a file, or a file's objects back. The server locks its storage while it
 * runs, so both refuse a running cluster.
 */
export const snapshot: Command = {
  name: 'snapshot',
  summary: "Save a stopped cluster's objects to a file, or restore them from one (sqlite)",
  args: 'save|restore FILE',
  flags: dataDirFlag,
  async run(argv) {
    const [action = '', file = '', ...rest] = argv;
    if (!['save', 'restore'].includes(action) || file === '' || file.startsWith('-'))
      throw new UsageError('snapshot needs an action and a file: `tinkernetes snapshot save|restore FILE`');
    const layout = new ClusterLayout(resolve(parseFlags(dataDirFlag, rest)['data-dir']));
    if (await askCluster(layout, 'GET', '/status'))
      throw new UsageError(`the cluster in ${layout.dataDir} runs: stop it first with \`tinkernetes down\``);
    const store = join(layout.dataDir, 'storage/state.db');
    if (action === 'save') await save(store, resolve(file));
    else await restore(store, resolve(file));
  },
};

async function open(store: string) {
  const { openStorage } = await import('@tinkernetes/storage');
  const logger = createLogger({ component: 'snapshot', level: 'error' });
  return openStorage(`sqlite:${store}`, { clock: realClock, logger });
}

/** The file appears only once it is complete. */
async function save(store: string, file: string): Promise<void> {
  if (!existsSync(store)) throw new UsageError(`there are no objects at ${store}`);
  const storage = await open(store);
  try {
    const target = createWriteStream(`${file}.new`, { mode: 0o600, flush: true });
    await pipeline(Readable.from(storage.snapshot()), target);
    await rename(`${file}.new`, file);
    process.stdout.write(`Saved revision ${await storage.currentRevision()} to ${file}.\n`);
  } finally {
    await storage.close();
  }
}

/** The new store takes the old one's place only once it is complete; the old one is kept beside it. */
async function restore(store: string, file: string): Promise<void> {
  if (!existsSync(file)) throw new UsageError(`there is no snapshot at ${file}`);
  const fresh = `${store}.restoring`;
  await removeStore(fresh);
  const storage = await open(fresh);
  try {
    await storage.restore(createReadStream(file));
  } catch (error) {
    await storage.close();
    await removeStore(fresh);
    throw error;
  }
  const revision = await storage.currentRevision();
  await storage.close();
  const before = `${store}.before-restore`;
  if (existsSync(store)) {
    // Opened and closed once, so that no write-ahead log is left behind under the old name.
    await (await open(store)).close();
    await removeStore(before);
    await rename(store, before);
  }
  await rename(fresh, store);
  process.stdout.write(`Restored revision ${revision} from ${file}.\n`);
}

async function removeStore(store: string): Promise<void> {
  for (const suffix of ['', '-wal', '-shm']) await rm(`${store}${suffix}`, { force: true });
}

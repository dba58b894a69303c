import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { open as openFile, rename, rm } from 'node:fs/promises';
import { get } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { loadKubeconfig } from '@tinkernetes/client';
import { createLogger, parseFlags, realClock, UsageError } from '@tinkernetes/component-base';
import { askCluster } from '../cluster/control-socket';
import { ClusterLayout } from '../cluster/layout';
import { upFlags, dataDirFlag, storageSpec } from '../options';
import type { Command } from './command';

const flags = { ...dataDirFlag, storage: upFlags.storage };

/**
 * Copies all objects to a file, or a file's objects back. A running cluster's are read through its API server, which
 * goes on meanwhile; a stopped one's from its storage. Only a stopped cluster can be restored.
 */
export const snapshot: Command = {
  name: 'snapshot',
  summary: "Save a cluster's objects to a file while it runs or not, or restore them into a stopped one",
  args: 'save|restore FILE',
  flags,
  async run(argv) {
    const [action = '', file = '', ...rest] = argv;
    if (!['save', 'restore'].includes(action) || file === '' || file.startsWith('-'))
      throw new UsageError('snapshot needs an action and a file: `tinkernetes snapshot save|restore FILE`');
    const given = parseFlags(flags, rest);
    const layout = new ClusterLayout(resolve(given['data-dir']));
    const running = await askCluster(layout, 'GET', '/status');
    if (running && action === 'save') return await saveRunning(running.kubeconfig, resolve(file));
    if (running)
      throw new UsageError(`the cluster in ${layout.dataDir} runs: stop it first with \`tinkernetes down\``);
    const spec = storageSpec(given.storage, { dataDir: layout.dataDir, ephemeral: false });
    if (spec === 'memory') throw new UsageError('memory keeps nothing when a cluster has stopped');
    try {
      await (action === 'save' ? saveStopped(spec, resolve(file)) : restore(spec, resolve(file)));
    } catch (error) {
      // Its message says what to do: no stack trace is needed with it.
      throw error instanceof Error && error.name === 'StorageUnusableError'
        ? new UsageError(error.message)
        : error;
    }
  },
};

async function open(spec: string) {
  const { openStorage } = await import('@tinkernetes/storage');
  const logger = createLogger({ component: 'snapshot', level: 'error' });
  return openStorage(spec, { clock: realClock, logger });
}

const fileOf = (spec: string): string | undefined =>
  spec.startsWith('sqlite:') ? spec.slice('sqlite:'.length) : undefined;

async function saveRunning(kubeconfig: string, file: string): Promise<void> {
  const config = await loadKubeconfig(kubeconfig, { userAgent: 'tinkernetes' });
  const response = await new Promise<IncomingMessage>((answered, failed) => {
    const { caData: ca, certData: cert, keyData: key, server } = config;
    get(`${server}/debug/tinkernetes/snapshot`, { ca, cert, key, agent: false }, answered).on(
      'error',
      failed,
    );
  });
  if (response.statusCode !== 200) {
    const text = (await response.setEncoding('utf8').toArray()).join('');
    throw new UsageError(`the API server refused (${response.statusCode}): ${text.trim()}`);
  }
  await write(response, file);
}

async function saveStopped(spec: string, file: string): Promise<void> {
  const store = fileOf(spec);
  if (store !== undefined && !existsSync(store)) throw new UsageError(`there are no objects at ${store}`);
  const storage = await open(spec);
  try {
    await write(Readable.from(storage.snapshot()), file);
  } finally {
    await storage.close();
  }
}

/** The file appears only once it is complete. */
async function write(chunks: Readable, file: string): Promise<void> {
  const fresh = `${file}.new`;
  try {
    await pipeline(chunks, createWriteStream(fresh, { mode: 0o600, flush: true }));
  } catch (error) {
    await rm(fresh, { force: true });
    throw new UsageError(
      `${file} could not be written: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  await rename(fresh, file);
  process.stdout.write(`Saved revision ${await revisionOf(file)} to ${file}.\n`);
}

/** A snapshot's first line tells. */
async function revisionOf(file: string): Promise<number> {
  const handle = await openFile(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4096), 0, 4096, 0);
    const [head = ''] = buffer.toString('utf8', 0, bytesRead).split('\n', 1);
    return (JSON.parse(head) as { revision: number }).revision;
  } finally {
    await handle.close();
  }
}

async function restore(spec: string, file: string): Promise<void> {
  if (!existsSync(file)) throw new UsageError(`there is no snapshot at ${file}`);
  const store = fileOf(spec);
  const revision = await (store === undefined ? fill(spec, file) : replace(store, file));
  process.stdout.write(`Restored ${file}; the storage is at revision ${revision}.\n`);
}

/** Into a store that must be empty. Returns the revision that it has then. */
async function fill(spec: string, file: string): Promise<number> {
  const storage = await open(spec);
  try {
    await storage.restore(createReadStream(file));
    return await storage.currentRevision();
  } finally {
    await storage.close();
  }
}

/** The new store takes the old one's place only once it is complete; the old one is kept beside it. */
async function replace(store: string, file: string): Promise<number> {
  const fresh = `${store}.restoring`;
  await removeStore(fresh);
  const revision = await fill(`sqlite:${fresh}`, file).catch(async (error: unknown) => {
    await removeStore(fresh);
    throw error;
  });
  const before = `${store}.before-restore`;
  if (existsSync(store)) {
    // Opened and closed once, so that no write-ahead log is left behind under the old name.
    await (await open(`sqlite:${store}`)).close();
    await removeStore(before);
    await rename(store, before);
  }
  await rename(fresh, store);
  return revision;
}

async function removeStore(store: string): Promise<void> {
  for (const suffix of ['', '-wal', '-shm']) await rm(`${store}${suffix}`, { force: true });
}

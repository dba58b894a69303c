import { readFile } from 'node:fs/promises';
import { UsageError, type Run } from '@tinkernetes/component-base';
import { openStorage, StorageUnusableError, type Storage } from '@tinkernetes/storage';
import type { RunContext } from '@tinkernetes/component-base';
import type { ApiServerOptions, StorageChoice } from './options';
import { startServer } from './server/api-server';

/** Opens the storage, serves until the signal aborts, then closes everything in order. */
export const run: Run<ApiServerOptions> = async (options, context) => {
  const storage = await open(options.storage, context);
  try {
    await serveUntilStopped(options, context, storage);
  } finally {
    await storage.close();
  }
};

async function serveUntilStopped(
  options: ApiServerOptions,
  context: RunContext,
  storage: Storage,
): Promise<void> {
  const server = await startServer(options, context, storage);
  context.logger.info({ port: server.port, storage: options.storage.kind }, 'serving');
  context.ready({ port: server.port });
  await aborted(context.signal);
  await server.stop();
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

async function open(choice: StorageChoice, { clock, logger, metrics }: RunContext): Promise<Storage> {
  try {
    const etcdTls = choice.kind === 'etcd' ? await etcdTlsOf(choice) : undefined;
    return await openStorage(specOf(choice), { clock, logger, metrics, etcdTls });
  } catch (error) {
    if (error instanceof StorageUnusableError) throw new UsageError(error.message);
    throw error;
  }
}

/** The files of `--etcd-cafile`, `--etcd-certfile` and `--etcd-keyfile`. */
async function etcdTlsOf({ caFile, certFile, keyFile }: Extract<StorageChoice, { kind: 'etcd' }>) {
  const [ca, cert, key] = await Promise.all(
    [caFile, certFile, keyFile].map(async (file) => {
      if (file === undefined) return undefined;
      return await readFile(file).catch((cause: unknown) => {
        throw new UsageError(
          `${file} can't be read: ${cause instanceof Error ? cause.message : String(cause)}`,
        );
      });
    }),
  );
  return { ca, cert, key };
}

function specOf(choice: StorageChoice): string {
  switch (choice.kind) {
    case 'memory':
      return 'memory';
    case 'sqlite':
      return `sqlite:${choice.file}`;
    case 'redis':
      return choice.url;
    case 'etcd':
      return `etcd:${choice.servers.join(',')}`;
  }
}

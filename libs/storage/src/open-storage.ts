import type { Clock, Logger, Metrics } from '@tinkernetes/component-base';
import type { EtcdTls } from './etcd/etcd-client';
import { createMemoryStorage } from './memory/create-memory-storage';
import { batchSizeObserver, MeteredStorage } from './mvcc/metered-storage';
import type { MvccOptions } from './mvcc/mvcc-storage';
import { StorageUnusableError, type Storage } from './types';

export interface StorageDeps {
  clock: Clock;
  logger: Logger;
  metrics?: Metrics;
  /** How much history auto-compaction keeps; 5 minutes unless told. */
  keepHistoryMs?: number;
  /** For etcd at `https:` addresses. */
  etcdTls?: EtcdTls;
}

/**
 * Opens the store that `spec` names: `memory`, `sqlite:<file>`, `redis://host:port[/database]`,
 * `etcd:http[s]://[user:password@]host:port[,…]`.
 * Throws StorageUnusableError when it can't be used, saying what to do.
 */
export async function openStorage(spec: string, deps: StorageDeps): Promise<Storage> {
  const { clock, metrics, keepHistoryMs } = deps;
  const storage = await openDriver(spec, deps, {
    clock,
    keepHistoryMs,
    observeBatch: batchSizeObserver(metrics),
  });
  return metrics ? new MeteredStorage(storage, metrics, clock) : storage;
}

/** Drivers are loaded when they are chosen: each brings its own heavy dependency. */
async function openDriver(spec: string, deps: StorageDeps, options: MvccOptions): Promise<Storage> {
  const colon = spec.indexOf(':');
  const scheme = colon < 0 ? spec : spec.slice(0, colon);
  const rest = colon < 0 ? '' : spec.slice(colon + 1);
  switch (scheme) {
    case 'memory':
      return createMemoryStorage(options);
    case 'sqlite': {
      if (rest === '')
        throw new StorageUnusableError('sqlite needs a file: --storage=sqlite:/path/to/file.db');
      const { openSqliteStorage } = await import('./sqlite/open-sqlite-storage');
      return openSqliteStorage(rest, options);
    }
    case 'redis':
    case 'rediss': {
      const { openRedisStorage } = await import('./redis/open-redis-storage');
      return openRedisStorage(spec, { ...options, logger: deps.logger });
    }
    case 'etcd': {
      const { openEtcdStorage } = await import('./etcd/open-etcd-storage');
      return openEtcdStorage(rest, { ...options, logger: deps.logger, tls: deps.etcdTls });
    }
    default:
      throw new StorageUnusableError(
        `unknown storage "${spec}": use memory, sqlite:<file>, redis://<host>:<port> or etcd:<endpoints>`,
      );
  }
}

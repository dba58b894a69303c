import type { Clock, Logger, Metrics } from '@tinkernetes/component-base';
import { createMemoryStorage } from './memory/create-memory-storage';
import { StorageUnusableError, type Storage } from './types';

export interface StorageDeps {
  clock: Clock;
  logger: Logger;
  metrics?: Metrics;
  /** How much history auto-compaction keeps; 5 minutes unless told. */
  keepHistoryMs?: number;
}

/**
 * Opens the store that `spec` names: `memory`. Throws StorageUnusableError when it can't be used, saying what to do.
 */
export async function openStorage(spec: string, deps: StorageDeps): Promise<Storage> {
  const [scheme] = spec.split(':', 1);
  switch (scheme) {
    case 'memory':
      return createMemoryStorage(deps);
    default:
      throw new StorageUnusableError(`unknown storage "${spec}": use memory`);
  }
}

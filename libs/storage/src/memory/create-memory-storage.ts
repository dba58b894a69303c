import { LocalDriver } from '../local/local-driver';
import { MvccStorage, type MvccOptions } from '../mvcc/mvcc-storage';
import type { Storage } from '../types';
import { MemoryJournal } from './memory-journal';

/** A store that lives as long as this process: for tests and `--ephemeral`. */
export function createMemoryStorage(options: MvccOptions): Promise<Storage> {
  return MvccStorage.open(new LocalDriver(new MemoryJournal()), options);
}

import { createMemoryStorage } from './create-memory-storage';
import { storageContract } from '../testing';

describe('memory storage', () => {
  storageContract({ create: ({ clock }) => createMemoryStorage({ clock, keepHistoryMs: 0 }) });
});

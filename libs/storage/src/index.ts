export * from './types';
export { createMemoryStorage } from './memory/create-memory-storage';
export { openStorage, type StorageDeps } from './open-storage';

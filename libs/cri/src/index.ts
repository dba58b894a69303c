export * from './generated/types';
export * from './client';
export * from './cri-error';
export * from './server';
export type { DeepPartial } from './types';

export * from './conf-dir';
export * from './exec';
export * from './plugin';
export * from './plugins/registry';
export * from './runner';
export * from './types';

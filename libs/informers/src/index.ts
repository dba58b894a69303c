export * from './types';
export { createSharedInformerFactory, type SharedInformerFactoryOptions } from './factory';

export * from './client';
export * from './dialer';
export * from './errors';
export * from './frame-stream';
export * from './host-dialer';
export * from './service';
export * from './types';

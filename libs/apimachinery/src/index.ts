export * from './object-key';
export * from './status-error';

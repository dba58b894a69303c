export * from './dialer';

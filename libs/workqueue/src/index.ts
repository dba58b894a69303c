export * from './types';
export { createInProcessWorkQueues, type InProcessWorkQueuesOptions } from './in-process';
export type { RateLimiterOptions } from './rate-limiter';

export * from './types';
export { createInProcessWorkQueues, type InProcessWorkQueuesOptions } from './in-process';
export {
  createBullWorkQueues,
  type BullWorkQueues,
  type BullWorkQueuesOptions,
} from './bull/bull-work-queues';
export type { RateLimiterOptions } from './rate-limiter';
export { formatRevisions, mergeRevisions, parseRevisions } from './revisions';

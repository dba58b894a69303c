import { realClock, type Clock, type Metrics } from '@tinkernetes/component-base';
import { InProcessQueue } from './in-process-queue';
import { createQueueMetrics } from './queue-metrics';
import type { RateLimiterOptions } from './rate-limiter';
import type { WorkQueueFactory } from './types';

export interface InProcessWorkQueuesOptions {
  clock?: Clock;
  metrics?: Metrics;
  rateLimit?: RateLimiterOptions;
}

/** Work queues that live and die with their process. */
export function createInProcessWorkQueues(options: InProcessWorkQueuesOptions = {}): WorkQueueFactory {
  const { clock = realClock, metrics, rateLimit } = options;
  const metricsOf = createQueueMetrics(metrics, clock);
  const queues: InProcessQueue[] = [];
  return {
    create(name) {
      const queue = new InProcessQueue(clock, metricsOf(name), rateLimit);
      queues.push(queue);
      return queue;
    },
    async close() {
      await Promise.all(queues.map((queue) => queue.shutDown()));
    },
  };
}

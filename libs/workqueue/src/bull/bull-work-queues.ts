import { realClock, type Clock, type Logger, type Metrics, type Random } from '@tinkernetes/component-base';
import { createQueueMetrics } from '../queue-metrics';
import type { RateLimiterOptions } from '../rate-limiter';
import type { WorkQueueFactory } from '../types';
import type { Board, BoardOptions } from './board';
import { BullQueue } from './bull-queue';

export interface BullWorkQueuesOptions {
  /** `redis://127.0.0.1:6379/0`; acknowledged adds survive a crash of Redis only with `appendfsync always`. */
  url: string;
  logger: Logger;
  random: Random;
  clock?: Clock;
  metrics?: Metrics;
  rateLimit?: RateLimiterOptions;
  /** Before all keys in Redis; clusters that share a Redis differ in it. */
  prefix?: string;
}

export interface BullWorkQueues extends WorkQueueFactory {
  /** Bull Board with the queues made so far; ends with them. */
  serveBoard(options: BoardOptions): Promise<Board>;
}

/**
 * Work queues in Redis, on BullMQ: several processes take keys from one queue, and what waits survives them. A key
 * that a dead worker held is free again after about three seconds. Rejects when Redis can't be reached.
 */
export async function createBullWorkQueues(options: BullWorkQueuesOptions): Promise<BullWorkQueues> {
  const { url, logger, random, clock = realClock, metrics, rateLimit, prefix = 'tinkernetes' } = options;
  // Loaded here, as only clusters with a Redis need it.
  const [bullmq, { Redis }] = await Promise.all([import('bullmq'), import('ioredis')]);
  const redis = new Redis(url, { maxRetriesPerRequest: null, lazyConnect: true });
  redis.on('error', (error: Error) =>
    logger.warn({ err: error }, 'connection to Redis failed, trying again'),
  );
  await redis.connect();
  const metricsOf = createQueueMetrics(metrics, clock);
  const queues: BullQueue[] = [];
  const boards: Board[] = [];
  return {
    create(name) {
      const queue = new BullQueue({
        name,
        prefix,
        bullmq,
        redis,
        clock,
        logger: logger.child({ queue: name }),
        random,
        metrics: metricsOf(name),
        rateLimit,
      });
      queues.push(queue);
      return queue;
    },
    async serveBoard(boardOptions) {
      const { serveBoard } = await import('./board');
      const shown = queues.map(({ queue }) => queue);
      const board = await serveBoard(shown, boardOptions);
      boards.push(board);
      return board;
    },
    async close() {
      await Promise.all(boards.map((board) => board.close()));
      await Promise.all(queues.map((queue) => queue.close()));
      await redis.quit();
    },
  };
}

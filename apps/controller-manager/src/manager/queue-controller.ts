import { runWorkers, type Reconciler } from '@tinkernetes/controller';
import type { RateLimitingQueue } from '@tinkernetes/workqueue';
import type { ControllerContext, RunnableController } from './context';

export interface QueueControllerOptions {
  context: ControllerContext;
  queue: RateLimitingQueue;
  reconciler: Reconciler;
  concurrency: number;
}

/** The usual controller: informers put keys into a queue, workers take them out. */
export function queueController({
  context,
  queue,
  reconciler,
  concurrency,
}: QueueControllerOptions): RunnableController {
  return {
    run: () => {
      const { logger, signal, caughtUp, caughtUpWithServer } = context;
      return runWorkers({
        ...{ queue, reconciler, concurrency, logger, signal },
        ...{ caughtUp, caughtUpWithServer },
      });
    },
  };
}

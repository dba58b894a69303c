import type { ServerDependencies } from '../contracts';
import type { ResourceTable } from '../registry/generic/resource-table';
import { FlowController } from './flow-controller';
import { InFlightLimit } from './in-flight-limit';
import { PriorityAndFairness } from './priority-and-fairness';
import type { RequestLimiter } from './request-limiter';

/** How many requests are served at the same time, and which first, as the flags say. */
export function createLimiter(
  deps: ServerDependencies,
  table: ResourceTable,
): { limiter: RequestLimiter; stopLimiting(): Promise<void> } {
  const { options, context } = deps;
  const readOnly = options.maxRequestsInflight;
  const mutating = options.maxMutatingRequestsInflight;
  const { metrics, clock } = context;
  if (!options.priorityAndFairness) {
    return {
      limiter: new InFlightLimit({ readOnly, mutating }),
      stopLimiting: () => Promise.resolve(),
    };
  }
  const controller = new FlowController(deps, readOnly + mutating);
  controller.start();
  return {
    limiter: new PriorityAndFairness({ controller, table, clock, metrics }),
    stopLimiting: () => controller.stop(),
  };
}

import type { Clock, Metrics } from '@tinkernetes/component-base';
import type { ResourceTable } from '../registry/generic/resource-table';
import type { FlowController } from './flow-controller';
import { flowControlMetrics, type Flow } from './metrics';
import { RejectedError, type Release } from './priority-level';
import type { LimitedRequest, RequestLimiter } from './request-limiter';
import { tooManyRequests } from './too-many-requests';
import { isLongRunning, seatsOf } from './work-estimate';

const nothing: Release = () => undefined;

export interface PriorityAndFairnessOptions {
  controller: FlowController;
  table: ResourceTable;
  clock: Clock;
  metrics: Metrics;
}

/** Lets requests through by priority, fairly among those of the same. Source: KEP-1040. */
export class PriorityAndFairness implements RequestLimiter {
  private readonly metrics;

  constructor(private readonly options: PriorityAndFairnessOptions) {
    this.metrics = flowControlMetrics(options.metrics, () => options.controller.allLevels());
  }

  admit(request: LimitedRequest): Release | Promise<Release | undefined> | undefined {
    const { info, response } = request;
    // A watch counts until it has begun; others that last are not counted.
    if (isLongRunning(info) && info.verb !== 'watch') return nothing;
    const found = this.options.controller.classify(request);
    if (!found) return nothing;
    const { schema, level, levelUid } = found;
    response.setHeader('X-Kubernetes-PF-FlowSchema-UID', schema.metadata.uid ?? '');
    response.setHeader('X-Kubernetes-PF-PriorityLevel-UID', levelUid);
    const flow: Flow = { priority_level: level.name, flow_schema: schema.metadata.name ?? '' };
    try {
      const entered = level.enter(found.flow, seatsOf(this.options.table, info), (onGone) =>
        response.once('close', onGone),
      );
      if (typeof entered !== 'function') return this.wait(request, flow, entered);
      this.metrics.dispatched(flow);
      return entered;
    } catch (error) {
      return this.reject(request, flow, error);
    }
  }

  private async wait(
    request: LimitedRequest,
    flow: Flow,
    entered: Promise<Release>,
  ): Promise<Release | undefined> {
    const { clock } = this.options;
    const since = clock.monotonic();
    const waited = (isExecuted: boolean) =>
      this.metrics.waited(flow, (clock.monotonic() - since) / 1000, isExecuted);
    try {
      const release = await entered;
      waited(true);
      this.metrics.dispatched(flow);
      return release;
    } catch (error) {
      waited(false);
      return this.reject(request, flow, error);
    }
  }

  private reject({ response }: LimitedRequest, flow: Flow, error: unknown): undefined {
    if (!(error instanceof RejectedError)) throw error;
    this.metrics.rejected(flow, error.reason);
    tooManyRequests(response);
  }
}

import type { Pod } from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';
import type { StepObject, StepTracer } from '@tinkernetes/component-base';
import { messageOf } from '../framework/status';
import type { QueuedPod } from '../queue/queued-pod';
import type { Placement } from './find-node';

/** Nodes that a step names; a trace is no list of all of them. */
const maxNodes = 20;

export interface SearchTimes {
  /** Epoch milliseconds. */
  filterStart: number;
  scoreStart: number;
  /** Nodes that passed the filters. */
  feasible: number;
}

/** Records the steps of a cycle in the trace of its Pod. */
export class CycleSteps {
  constructor(
    private readonly tracer: StepTracer,
    private readonly client: Client,
  ) {}

  waited({ pod, timestamp, attempts }: QueuedPod): void {
    this.tracer.record('scheduler.queue', {
      parent: this.client.traceOf(pod),
      object: stepObject(pod),
      startMs: timestamp,
      attributes: { attempt: attempts, priority: pod.spec?.priority ?? 0 },
    });
  }

  searched({ pod, attempts }: QueuedPod, placement: Placement, times: SearchTimes): void {
    const parent = this.client.traceOf(pod);
    if (!parent) return;
    const object = stepObject(pod);
    const { statuses } = placement.diagnosis;
    const refusals = [...statuses]
      .slice(0, maxNodes)
      .map(([node, status]) => [`refused.${node}`, `${status.plugin}: ${messageOf(status)}`] as const);
    this.tracer.record('scheduler.filter', {
      parent,
      object,
      startMs: times.filterStart,
      endMs: times.scoreStart,
      attributes: {
        attempt: attempts,
        feasible: times.feasible,
        refused: statuses.size,
        ...Object.fromEntries(refusals),
      },
    });
    if (placement.kind !== 'found') return;
    const { nodes = [], totals = [] } = placement.scores ?? {};
    const scores = nodes.slice(0, maxNodes).map((node, i) => [`score.${node}`, totals[i] ?? 0] as const);
    this.tracer.record('scheduler.score', {
      parent,
      object,
      startMs: times.scoreStart,
      attributes: { node: placement.node, ...Object.fromEntries(scores) },
    });
  }
}

export const stepObject = ({ metadata: { namespace, name, uid } }: Pod): StepObject => ({
  kind: 'Pod',
  namespace,
  name,
  uid,
});

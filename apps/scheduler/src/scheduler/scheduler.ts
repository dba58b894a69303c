import type { Pod } from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';
import type { Clock, Logger, Random, StepTracer } from '@tinkernetes/component-base';
import type { EventRecorder } from '@tinkernetes/controller';
import type { Lister } from '@tinkernetes/informers';
import { podKey } from '../cache/pod-info';
import type { SchedulerCache } from '../cache/scheduler-cache';
import type { Snapshot } from '../cache/snapshot';
import type { Extenders } from '../extenders/consult';
import type { EventHint } from '../framework/cluster-event';
import { CycleState } from '../framework/cycle-state';
import type { Framework } from '../framework/framework';
import { isRejected, messageOf, unschedulable, type Status } from '../framework/status';
import type { Diagnosis, Nominator } from '../framework/types';
import type { QueuedPod } from '../queue/queued-pod';
import type { SchedulingQueue } from '../queue/scheduling-queue';
import { AssumedExpiry } from './assumed-expiry';
import type { Attempts } from './attempts';
import type { Cycle, Failure } from './cycle';
import { CycleOutcome } from './cycle-outcome';
import { CycleSteps, stepObject, type SearchTimes } from './cycle-steps';
import { findNode, findNodeWithExtenders, newDiagnosis, type Placement } from './find-node';
import type { SchedulerMetrics } from './metrics';

export interface SchedulerDeps {
  cache: SchedulerCache;
  queue: SchedulingQueue;
  frameworks: ReadonlyMap<string, Framework>;
  nominator: Nominator;
  client: Client;
  /** Pods as the API has them. */
  pods: Lister<Pod>;
  /** By profile. */
  recorders: ReadonlyMap<string, EventRecorder>;
  clock: Clock;
  random: Random;
  logger: Logger;
  tracer: StepTracer;
  metrics: SchedulerMetrics;
  attempts: Attempts;
  extenders: Extenders;
  signal: AbortSignal;
  percentageOfNodesToScore(profile: string): number;
}

/** Scheduling goes on for so long before other work of the process has its turn. */
const maxBlockMs = 8;
const noNodesMessage = 'no nodes available to schedule pods';
/** Stands for the plugin that refused a Pod because there is no node at all. */
export const noNodes: { name: string; events: readonly EventHint[] } = {
  name: '',
  events: [{ resource: 'Node', actions: ['Add'] }],
};

/** Takes Pods from the queue one at a time, finds each a node, and binds them side by side. */
export class Scheduler {
  private readonly startIndex = { value: 0 };
  private readonly binding = new Set<Promise<void>>();
  private readonly expiry: AssumedExpiry;
  private readonly steps: CycleSteps;
  private readonly outcome: CycleOutcome;

  constructor(private readonly deps: SchedulerDeps) {
    const { cache, clock, queue, logger } = deps;
    this.steps = new CycleSteps(deps.tracer, deps.client);
    this.outcome = new CycleOutcome({ ...deps, bindings: () => this.binding.size });
    this.expiry = new AssumedExpiry({
      cache,
      clock,
      onExpired(pod) {
        logger.warn({ object: `Pod/${podKey(pod)}` }, 'Pod expired: the API has not shown it on its node');
        queue.moveAllOn({ resource: 'AssignedPod', action: 'Delete', before: pod });
      },
    });
  }

  /** Resolves when the queue is closed and all bindings under way have ended. */
  async run(): Promise<void> {
    let yieldedAt = this.deps.clock.monotonic();
    for (;;) {
      const queued = await this.deps.queue.pop();
      if (!queued) break;
      await this.scheduleOne(queued);
      if (this.deps.clock.monotonic() - yieldedAt > maxBlockMs) {
        await new Promise<void>((resolve) => setImmediate(resolve));
        yieldedAt = this.deps.clock.monotonic();
      }
    }
    await Promise.all(this.binding);
    this.expiry.stop();
  }

  /** One at a time: the next Pod's turn comes when this one has a node, or none. */
  private async scheduleOne(queued: QueuedPod): Promise<void> {
    const { pod } = queued;
    const framework = this.deps.frameworks.get(pod.spec?.schedulerName ?? '');
    if (!framework || this.isSettled(pod)) {
      this.deps.queue.done(pod);
      return;
    }
    const cycle: Cycle = {
      queued,
      pod,
      framework,
      state: new CycleState(),
      startedAt: this.deps.clock.monotonic(),
    };
    this.steps.waited(queued);
    const placement = await this.place(cycle);
    if ('status' in placement) {
      this.outcome.fail(cycle, placement);
      return;
    }
    const bound = this.bindingCycle(cycle, placement.assumed, placement.node).finally(() =>
      this.binding.delete(bound),
    );
    this.binding.add(bound);
  }

  /** Nothing is to be done for a Pod that is being deleted, or that we have placed already. */
  private isSettled(pod: Pod): boolean {
    return Boolean(pod.metadata.deletionTimestamp) || this.deps.cache.isAssumed(pod);
  }

  /** Finds a node and reserves it. */
  private async place(cycle: Cycle): Promise<{ node: string; assumed: Pod } | Failure> {
    const { pod, framework, state } = cycle;
    const snapshot = this.deps.cache.snapshot();
    if (snapshot.nodes.length === 0)
      return {
        status: { ...unschedulable(noNodesMessage), plugin: noNodes.name },
        diagnosis: undefined,
        nominatedNode: '',
      };
    let placement: Placement;
    try {
      placement = await this.search(cycle, snapshot);
      if (placement.kind === 'unschedulable') return await this.postFilter(cycle, placement.diagnosis);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { status: { code: 'Error', reasons: [reason] }, diagnosis: undefined, nominatedNode: '' };
    }
    const { node } = placement;
    this.outcome.explain(cycle, { placement });
    const assumed: Pod = { ...pod, spec: { ...(pod.spec as NonNullable<Pod['spec']>), nodeName: node } };
    this.deps.cache.assume(assumed);
    this.deps.nominator.clear(pod);
    const refusal = framework.reserve(state, assumed, node) ?? framework.permit(state, assumed, node);
    if (!refusal) return { node, assumed };
    this.release(cycle, assumed, node);
    return { status: refusal, diagnosis: this.diagnosisOf(node, refusal), nominatedNode: '' };
  }

  private async search({ pod, framework, state, queued }: Cycle, snapshot: Snapshot): Promise<Placement> {
    const { clock, random, metrics, extenders } = this.deps;
    const now = clock.now();
    const times: SearchTimes = { filterStart: now, scoreStart: now, feasible: 0 };
    const startedAt = clock.monotonic();
    const options = {
      framework,
      snapshot,
      random,
      percentageOfNodesToScore: this.deps.percentageOfNodesToScore(framework.profile),
      startIndex: this.startIndex,
      onFiltered: (feasible: number) => Object.assign(times, { feasible, scoreStart: clock.now() }),
    };
    const placement = extenders.concern(pod)
      ? await findNodeWithExtenders(state, pod, { ...options, extenders })
      : findNode(state, pod, options);
    metrics.algorithmDuration.observe((clock.monotonic() - startedAt) / 1000);
    this.steps.searched(queued, placement, times);
    return placement;
  }

  private async postFilter({ framework, state, pod }: Cycle, diagnosis: Diagnosis): Promise<Failure> {
    const { status, nominatedNode } = await framework.postFilter(state, pod, diagnosis);
    diagnosis.postFilterMessage = status ? messageOf(status) : undefined;
    return { status: unschedulable(), diagnosis, nominatedNode };
  }

  private async bindingCycle(cycle: Cycle, assumed: Pod, node: string): Promise<void> {
    const { framework, state } = cycle;
    try {
      const status = (await this.waitOnPermit(cycle)) ?? (await this.bind(cycle, assumed, node));
      if (status) {
        this.undo(cycle, { assumed, node, status });
        return;
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.undo(cycle, { assumed, node, status: { code: 'Error', reasons: [reason] } });
      return;
    }
    this.expiry.bound(assumed);
    this.outcome.bound(cycle, node);
    framework.postBind(state, assumed, node);
  }

  private async waitOnPermit({ framework, pod }: Cycle): Promise<Status | undefined> {
    const { clock, metrics } = this.deps;
    const waiting = framework.waitOnPermit(pod);
    if (!waiting) return undefined;
    const start = clock.monotonic();
    const status = await waiting;
    metrics.permitWait.observe((clock.monotonic() - start) / 1000, { result: status?.code ?? 'Success' });
    return status;
  }

  private async bind(
    { framework, state, pod }: Cycle,
    assumed: Pod,
    node: string,
  ): Promise<Status | undefined> {
    const { tracer, client, queue, signal } = this.deps;
    // A failure from here on is an error, not a refusal: events in the cluster don't bear on it.
    queue.done(pod);
    const parent = client.traceOf(pod);
    return tracer.step(
      'scheduler.bind',
      { parent, object: stepObject(pod), attributes: { node } },
      async (span) => {
        const target = { node, signal, trace: span.traceParent };
        return (
          (await framework.preBind(state, assumed, target)) ?? (await framework.bind(state, assumed, target))
        );
      },
    );
  }

  /** The node's room becomes free again, which may help other Pods. */
  private undo(
    cycle: Cycle,
    { assumed, node, status }: { assumed: Pod; node: string; status: Status },
  ): void {
    this.release(cycle, assumed, node);
    this.deps.queue.moveAllOn({ resource: 'AssignedPod', action: 'Delete', before: assumed });
    const diagnosis = isRejected(status) ? this.diagnosisOf(node, status) : undefined;
    this.outcome.fail(cycle, { status, diagnosis, nominatedNode: '' });
  }

  private release({ framework, state }: Cycle, assumed: Pod, node: string): void {
    framework.unreserve(state, assumed, node);
    this.deps.cache.forget(assumed);
  }

  private diagnosisOf(node: string, status: Status): Diagnosis {
    const diagnosis = newDiagnosis();
    diagnosis.statuses.set(node, status);
    if (status.plugin !== undefined) diagnosis.unschedulablePlugins.add(status.plugin);
    return diagnosis;
  }
}

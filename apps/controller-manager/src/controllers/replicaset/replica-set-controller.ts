import { Pods, ReplicaSets, type Pod, type ReplicaSet, type ResourceDescriptor } from '@tinkernetes/api';
import {
  ignoreNotFound,
  controllerOf,
  isPodActive,
  isPodTerminal,
  keyOf,
  selectorOf,
  type Selector,
} from '@tinkernetes/apimachinery';
import {
  claimChildren,
  ControllerExpectations,
  controllerRefOf,
  settleInTurns,
  slowStartBatch,
  type ReconcileResult,
  type Reconciler,
} from '@tinkernetes/controller';
import { exponentialBuckets } from '@tinkernetes/component-base';
import type { RateLimitingQueue } from '@tinkernetes/workqueue';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { childCandidates, controllerUidIndex, indexByControllerUid } from '../shared/owner-index';
import { watchOwned } from '../shared/owned-objects';
import { createPod, deletePod, podFromTemplate } from '../shared/pod-control';
import { sameStatus } from '../shared/same-status';
import { watchObjects } from '../shared/watch-objects';
import { deletionAgeRatio, podsToDelete } from './pod-ranking';
import { calculateStatus, untilNextAvailable, type StatusInput } from './status';

/** At most so many Pods are created or deleted in one go. */
const burstReplicas = 500;

/** A look at a set goes over all its Pods: in a large one changes are gathered for so long before the next look. */
const gatheringMs = (replicas: number): number => (replicas < 100 ? 0 : Math.min(replicas / 10, 100));

/** A kind that keeps a number of Pods: ReplicaSet or, with a selector of another form, ReplicationController. */
export interface ReplicaKind {
  readonly name: string;
  readonly queue: string;
  readonly descriptor: ResourceDescriptor<ReplicaSet>;
  readonly concurrency: number;
  selectorOf(set: ReplicaSet): Selector;
}

/**
 * Keeps as many Pods as a ReplicaSet asks for. Watches ReplicaSets and Pods; writes Pods and the set's status.
 * Source: k8s.io/kubernetes/pkg/controller/replicaset.
 */
export function startReplicaSetController(context: ControllerContext): RunnableController {
  return startReplicaController(context, {
    name: 'replicaset-controller',
    queue: 'replicaset',
    descriptor: ReplicaSets,
    concurrency: context.flags['concurrent-replicaset-syncs'],
    selectorOf: (set) => selectorOf(set.spec.selector),
  });
}

export function startReplicaController(context: ControllerContext, kind: ReplicaKind): RunnableController {
  const queue = context.queues.create(kind.queue);
  const reconciler = new ReplicaSetController(context, queue, kind);
  return queueController({ context, queue, reconciler, concurrency: kind.concurrency });
}

class ReplicaSetController implements Reconciler {
  readonly name;
  private readonly sets;
  private readonly pods;
  private readonly expectations: ControllerExpectations;
  private readonly ageRatios;

  constructor(
    private readonly context: ControllerContext,
    queue: RateLimitingQueue,
    private readonly kind: ReplicaKind,
  ) {
    this.name = kind.name;
    this.expectations = new ControllerExpectations(context.clock);
    this.ageRatios = context.metrics.histogram(
      'replicaset_controller_sorting_deletion_age_ratio',
      "The ratio of chosen deleted pod's ages to the current youngest pod's age (at the time). Should be <2. Only Ready pods are considered.",
      { buckets: exponentialBuckets(0.25, 2, 6) },
    );
    this.sets = context.informers.for(kind.descriptor);
    this.pods = context.informers.for(Pods);
    indexByControllerUid(this.sets);
    indexByControllerUid(this.pods);
    watchObjects(this.sets, (key) => queue.add(key), { expectations: this.expectations });
    watchOwned({
      children: this.pods,
      owners: this.sets,
      enqueue: (key) => queue.addAfter(key, gatheringMs(this.sets.lister.getByKey(key)?.spec.replicas ?? 1)),
      selectorOf: (set) => kind.selectorOf(set),
      expectations: this.expectations,
    });
  }

  async reconcile(key: string, { signal }: { signal: AbortSignal }): Promise<ReconcileResult | void> {
    const set = this.sets.lister.getByKey(key);
    if (!set) {
      this.expectations.forget(key);
      return;
    }
    const { client, tracer, clock } = this.context;
    const parent = client.traceOf(set);
    const object = {
      kind: this.kind.descriptor.kind,
      namespace: set.metadata.namespace,
      name: set.metadata.name,
      uid: set.metadata.uid,
    };
    return tracer.step('replicaset.reconcile', { parent, object }, async () => {
      const mayManage = this.expectations.satisfied(key) && !set.metadata.deletionTimestamp;
      const candidates = childCandidates(this.pods, set);
      // A Pod that has ended, or is about to, is neither taken in nor let go.
      const active = await this.claim(set, candidates.filter(isPodActive), signal);
      const terminating = candidates.filter((pod) => this.isGoing(set, pod)).length;
      let failure: StatusInput['failure'];
      let error: unknown;
      if (mayManage) ({ failure, error } = await this.manage(key, set, active));
      const status = calculateStatus(set, { pods: active, terminating, failure, now: clock.now() });
      if (!sameStatus(set.status, status)) {
        await tracer
          .step('replicaset.status', { parent, object }, (span) =>
            client
              .for(this.kind.descriptor)
              .updateStatus(
                { ...set, status },
                { namespace: set.metadata.namespace, trace: span.traceParent ?? parent, signal },
              ),
          )
          .catch(ignoreNotFound);
      }
      if (error) throw error;
      const wait = untilNextAvailable(set, active, clock.now());
      return wait === undefined ? undefined : { requeueAfterMs: wait };
    });
  }

  private async manage(
    key: string,
    set: ReplicaSet,
    active: readonly Pod[],
  ): Promise<{ failure?: StatusInput['failure']; error?: unknown }> {
    const difference = active.length - (set.spec.replicas ?? 1);
    if (difference === 0) return {};
    const { client, tracer } = this.context;
    const parent = client.traceOf(set);
    const object = {
      kind: this.kind.descriptor.kind,
      namespace: set.metadata.namespace,
      name: set.metadata.name,
      uid: set.metadata.uid,
    };
    const attributes = { wanted: set.spec.replicas ?? 1, present: active.length };
    const error = await tracer.step('replicaset.pods', { parent, object, attributes }, (span) => {
      const trace = span.traceParent ?? parent;
      return difference < 0
        ? this.createPods({ key, set, count: -difference, trace })
        : this.deletePods({ key, set, active, count: difference, trace });
    });
    if (error === undefined) return {};
    return {
      error,
      failure: { kind: difference < 0 ? 'create' : 'delete', message: (error as Error).message },
    };
  }

  private async createPods({
    key,
    set,
    count,
    trace,
  }: {
    key: string;
    set: ReplicaSet;
    count: number;
    trace: string | undefined;
  }): Promise<unknown> {
    const burst = Math.min(count, burstReplicas);
    this.expectations.expectCreations(key, burst);
    const pod = podFromTemplate({
      owner: set,
      controllerRef: controllerRefOf(set, this.kind.descriptor),
      template: set.spec.template ?? {},
    });
    const { successes, error } = await slowStartBatch(burst, async () => {
      await createPod(this.context, { owner: set, pod, trace });
    });
    for (let missed = successes; missed < burst; missed++) this.expectations.creationObserved(key);
    return error;
  }

  private async deletePods({
    key,
    set,
    active,
    count,
    trace,
  }: {
    key: string;
    set: ReplicaSet;
    active: readonly Pod[];
    count: number;
    trace: string | undefined;
  }): Promise<unknown> {
    const { clock } = this.context;
    const chosen = podsToDelete(active, Math.min(count, burstReplicas), {
      podsOnNode: this.podsOnNodes(set),
      now: clock.now(),
    });
    for (const pod of chosen) {
      const ratio = deletionAgeRatio(pod, active, clock.now());
      if (ratio !== undefined) this.ageRatios.observe(ratio);
    }
    this.expectations.expectDeletions(key, chosen.map(keyOf));
    const results = await settleInTurns(chosen, (pod) => deletePod(this.context, { owner: set, pod, trace }));
    let error: unknown;
    results.forEach((result, i) => {
      const pod = chosen[i];
      if (result.status === 'fulfilled' || !pod) return;
      this.expectations.deletionObserved(key, keyOf(pod));
      error ??= result.reason;
    });
    return error;
  }

  /** Active Pods per node of all ReplicaSets with the same owner (a Deployment's old and new ones). */
  private podsOnNodes(set: ReplicaSet): Map<string, number> {
    const parent = controllerOf(set)?.uid;
    const related = parent ? this.sets.lister.byIndex(controllerUidIndex, parent) : [set];
    const counts = new Map<string, number>();
    for (const pod of related.flatMap((s) =>
      this.pods.lister.byIndex(controllerUidIndex, s.metadata.uid ?? ''),
    )) {
      if (!pod.spec.nodeName || !isPodActive(pod)) continue;
      counts.set(pod.spec.nodeName, (counts.get(pod.spec.nodeName) ?? 0) + 1);
    }
    return counts;
  }

  private isGoing(set: ReplicaSet, pod: Pod): boolean {
    return (
      pod.metadata.deletionTimestamp !== undefined &&
      !isPodTerminal(pod) &&
      controllerOf(pod)?.uid === set.metadata.uid &&
      this.kind.selectorOf(set).matches(pod.metadata.labels)
    );
  }

  private claim(set: ReplicaSet, candidates: readonly Pod[], signal: AbortSignal): Promise<Pod[]> {
    const selector = this.kind.selectorOf(set);
    const { client } = this.context;
    return claimChildren({
      owner: set,
      ownerDescriptor: this.kind.descriptor,
      client: client.for(Pods),
      candidates,
      matches: (pod) => selector.matches(pod.metadata.labels),
      freshOwner: () =>
        client.for(this.kind.descriptor).get(set.metadata.name, { namespace: set.metadata.namespace }),
      signal,
    });
  }
}

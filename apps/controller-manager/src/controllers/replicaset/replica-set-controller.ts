import { Pods, ReplicaSets, type Pod, type ReplicaSet } from '@tinkernetes/api';
import {
  controllerOf,
  isNotFound,
  isPodActive,
  isPodTerminal,
  keyOf,
  selectorOf,
} from '@tinkernetes/apimachinery';
import {
  claimChildren,
  ControllerExpectations,
  controllerRefOf,
  slowStartBatch,
  type ReconcileResult,
  type Reconciler,
} from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { childCandidates, controllerUidIndex, indexByControllerUid } from '../shared/owner-index';
import { createPod, deletePod, podFromTemplate } from '../shared/pod-control';
import { sameStatus } from '../shared/same-status';
import { podsToDelete } from './pod-ranking';
import { calculateStatus, untilNextAvailable, type StatusInput } from './status';

/** At most so many Pods are created or deleted in one go. */
const burstReplicas = 500;

/**
 * Keeps as many Pods as a ReplicaSet asks for. Watches ReplicaSets and Pods; writes Pods and the set's status.
 * Source: k8s.io/kubernetes/pkg/controller/replicaset.
 */
export function startReplicaSetController(context: ControllerContext): RunnableController {
  const queue = context.queues.create('replicaset');
  const reconciler = new ReplicaSetController(context, { add: (key) => queue.add(key) });
  return queueController({
    context,
    queue,
    reconciler,
    concurrency: context.flags['concurrent-replicaset-syncs'],
  });
}

class ReplicaSetController implements Reconciler {
  readonly name = 'replicaset-controller';
  private readonly sets;
  private readonly pods;
  private readonly expectations: ControllerExpectations;

  constructor(
    private readonly context: ControllerContext,
    private readonly queue: { add(key: string): void },
  ) {
    this.expectations = new ControllerExpectations(context.clock);
    this.sets = context.informers.for(ReplicaSets);
    this.pods = context.informers.for(Pods);
    indexByControllerUid(this.sets);
    indexByControllerUid(this.pods);
    this.sets.addEventHandler({
      added: (set) => queue.add(keyOf(set)),
      updated: (before, set) => {
        // The same name with another uid is another set: nothing that was expected of the old one will be seen.
        if (before.metadata.uid !== set.metadata.uid) this.expectations.forget(keyOf(before));
        queue.add(keyOf(set));
      },
      deleted: (set) => {
        this.expectations.forget(keyOf(set));
        queue.add(keyOf(set));
      },
    });
    this.pods.addEventHandler({
      added: (pod) => this.onPod(pod, 'added'),
      updated: (before, pod) => {
        if (controllerOf(before)?.uid !== controllerOf(pod)?.uid) this.onPod(before, 'updated');
        this.onPod(
          pod,
          pod.metadata.deletionTimestamp && !before.metadata.deletionTimestamp ? 'deleted' : 'updated',
        );
      },
      deleted: (pod) => this.onPod(pod, 'deleted'),
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
      kind: 'ReplicaSet',
      namespace: set.metadata.namespace,
      name: set.metadata.name,
      uid: set.metadata.uid,
    };
    return tracer.step('replicaset.reconcile', { parent, object }, async () => {
      const mayManage = this.expectations.satisfied(key) && !set.metadata.deletionTimestamp;
      const claimed = await this.claim(set, signal);
      const active = claimed.filter(isPodActive);
      const terminating = claimed.filter(
        (pod) => pod.metadata.deletionTimestamp && !isPodTerminal(pod),
      ).length;
      let failure: StatusInput['failure'];
      let error: unknown;
      if (mayManage) ({ failure, error } = await this.manage(key, set, active));
      const status = calculateStatus(set, { pods: active, terminating, failure, now: clock.now() });
      if (!sameStatus(set.status, status)) {
        await tracer
          .step('replicaset.status', { parent, object }, (span) =>
            client
              .for(ReplicaSets)
              .updateStatus(
                { ...set, status },
                { namespace: set.metadata.namespace, trace: span.traceParent ?? parent, signal },
              ),
          )
          .catch((e: unknown) => {
            if (!isNotFound(e)) throw e;
          });
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
      kind: 'ReplicaSet',
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
      controllerRef: controllerRefOf(set, ReplicaSets),
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
    this.expectations.expectDeletions(key, chosen.map(keyOf));
    const results = await Promise.allSettled(
      chosen.map((pod) => deletePod(this.context, { owner: set, pod, trace })),
    );
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

  private claim(set: ReplicaSet, signal: AbortSignal): Promise<Pod[]> {
    const selector = selectorOf(set.spec.selector);
    const { client } = this.context;
    return claimChildren({
      owner: set,
      ownerDescriptor: ReplicaSets,
      client: client.for(Pods),
      candidates: childCandidates(this.pods, set),
      matches: (pod) => selector.matches(pod.metadata.labels),
      freshOwner: () => client.for(ReplicaSets).get(set.metadata.name, { namespace: set.metadata.namespace }),
      signal,
    });
  }

  private onPod(pod: Pod, what: 'added' | 'updated' | 'deleted'): void {
    const owner = controllerOf(pod);
    if (!owner) return what === 'deleted' ? undefined : this.offerOrphan(pod);
    if (owner.kind !== 'ReplicaSet') return undefined;
    const key = `${pod.metadata.namespace}/${owner.name}`;
    if (this.sets.lister.getByKey(key)?.metadata.uid !== owner.uid) return undefined;
    if (what === 'added') this.expectations.creationObserved(key);
    if (what === 'deleted') this.expectations.deletionObserved(key, keyOf(pod));
    return this.queue.add(key);
  }

  private offerOrphan(pod: Pod): void {
    for (const set of this.sets.lister.list(pod.metadata.namespace)) {
      const selector = selectorOf(set.spec.selector);
      if (!selector.isEverything && selector.matches(pod.metadata.labels)) this.queue.add(keyOf(set));
    }
  }
}

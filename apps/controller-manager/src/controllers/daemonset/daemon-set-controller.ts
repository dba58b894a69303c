import {
  ControllerRevisions,
  DaemonSets,
  Nodes,
  Pods,
  type ControllerRevision,
  type DaemonSet,
  type Node,
  type Pod,
} from '@tinkernetes/api';
import { ignoreNotFound, deepEqual, keyOf, selectorOf } from '@tinkernetes/apimachinery';
import {
  claimChildren,
  ControllerExpectations,
  controllerRefOf,
  settleInTurns,
  slowStartBatch,
  type ReconcileResult,
  type Reconciler,
} from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import {
  claimRevisions,
  ensureRevision,
  revisionHashLabel,
  truncateHistory,
} from '../shared/controller-revisions';
import { childCandidates, indexByControllerUid } from '../shared/owner-index';
import { watchOwned } from '../shared/owned-objects';
import { createPod, deletePod, podFromTemplate } from '../shared/pod-control';
import { sameStatus } from '../shared/same-status';
import { watchObjects } from '../shared/watch-objects';
import { FailedPodsBackOff } from './failed-pods-back-off';
import { decideForNode, specForNode, targetNode } from './nodes';
import { planPlacement, planRollingUpdate, type PlanInput } from './plan';
import { calculateStatus } from './status';

const burst = 250;
const templateGeneration = 'deprecated.daemonset.template.generation';

/**
 * Keeps one Pod on every node that fits. Watches DaemonSets, Pods, Nodes and ControllerRevisions; writes Pods,
 * ControllerRevisions and the status. Source: k8s.io/kubernetes/pkg/controller/daemon.
 */
export function startDaemonSetController(context: ControllerContext): RunnableController {
  const queue = context.queues.create('daemonset');
  const reconciler = new DaemonSetController(context, (key) => queue.add(key));
  return queueController({
    context,
    queue,
    reconciler,
    concurrency: context.flags['concurrent-daemonset-syncs'],
  });
}

class DaemonSetController implements Reconciler {
  readonly name = 'daemonset-controller';
  private readonly sets;
  private readonly pods;
  private readonly nodes;
  private readonly revisions;
  private readonly expectations: ControllerExpectations;
  private readonly backOff: FailedPodsBackOff;

  constructor(
    private readonly context: ControllerContext,
    enqueue: (key: string) => void,
  ) {
    const { informers, clock } = context;
    this.expectations = new ControllerExpectations(clock);
    this.backOff = new FailedPodsBackOff(clock);
    this.sets = informers.for(DaemonSets);
    this.pods = informers.for(Pods);
    this.nodes = informers.for(Nodes);
    this.revisions = informers.for(ControllerRevisions);
    indexByControllerUid(this.pods);
    indexByControllerUid(this.revisions);
    watchObjects(this.sets, enqueue, { expectations: this.expectations });
    watchOwned({
      children: this.pods,
      owners: this.sets,
      enqueue,
      selectorOf: (set) => selectorOf(set.spec.selector),
      expectations: this.expectations,
    });
    const all = () => this.sets.lister.list();
    const decidesOtherwise = (set: DaemonSet, before: Node, after: Node) =>
      !deepEqual(decideForNode(set, before), decideForNode(set, after));
    this.nodes.addEventHandler({
      added: (node) => {
        for (const set of all()) if (decideForNode(set, node).shouldRun) enqueue(keyOf(set));
      },
      // Heartbeats change nothing that counts here.
      updated: (before, node) => {
        if (deepEqual(before.metadata.labels, node.metadata.labels) && deepEqual(before.spec, node.spec))
          return;
        for (const set of all()) if (decidesOtherwise(set, before, node)) enqueue(keyOf(set));
      },
      deleted: () => all().forEach((set) => enqueue(keyOf(set))),
    });
  }

  async reconcile(key: string, { signal }: { signal: AbortSignal }): Promise<ReconcileResult | void> {
    const set = this.sets.lister.getByKey(key);
    if (!set) return this.expectations.forget(key);
    const { client, clock, recorder } = this.context;
    if (selectorOf(set.spec.selector).isEverything) {
      recorder.event(
        set,
        'Warning',
        'SelectingAll',
        'This daemon set is selecting all pods. A non-empty selector is required.',
      );
      return;
    }
    if (set.metadata.deletionTimestamp) return;
    const { update, revisions, collisionCount } = await this.revisionsOf(set, signal);
    const hash = update.metadata.labels?.[revisionHashLabel] ?? '';
    const read = async (): Promise<PlanInput> => ({
      set,
      nodes: this.nodes.lister.list(),
      pods: await this.claimPods(set, signal),
      hash,
      now: clock.now(),
    });
    const isObserved = this.expectations.satisfied(key);
    const { error, waitMs } = isObserved ? await this.update(key, read) : {};
    const input = await read();
    const status = calculateStatus(input, collisionCount);
    // A status that nothing was done for does not speak for the generation.
    if (!isObserved) status.observedGeneration = set.status?.observedGeneration;
    if (!sameStatus(set.status, status)) {
      await client
        .for(DaemonSets)
        .updateStatus({ ...set, status }, { namespace: set.metadata.namespace, trace: client.traceOf(set) })
        .catch(ignoreNotFound);
    }
    if (error) throw error;
    await this.cleanUp(set, input.pods, { revisions, update });
    const { minReadySeconds = 0 } = set.spec;
    const isWaiting = minReadySeconds > 0 && status.numberReady !== status.numberAvailable;
    const waits = [...(isWaiting ? [minReadySeconds * 1000] : []), ...(waitMs === undefined ? [] : [waitMs])];
    return waits.length > 0 ? { requeueAfterMs: Math.min(...waits) } : undefined;
  }

  /** The status tells how things are also where this fails. */
  private async update(
    key: string,
    read: () => Promise<PlanInput>,
  ): Promise<{ error?: unknown; waitMs?: number }> {
    try {
      const input = await read();
      const waitMs = await this.place(key, input);
      if (input.set.spec.updateStrategy?.type !== 'OnDelete' && this.expectations.satisfied(key)) {
        const { set, hash } = input;
        await this.manage(key, set, { ...planRollingUpdate(await read()), hash });
      }
      return { waitMs };
    } catch (error) {
      return { error };
    }
  }

  private async cleanUp(
    set: DaemonSet,
    pods: readonly Pod[],
    { revisions, update }: { revisions: readonly ControllerRevision[]; update: ControllerRevision },
  ): Promise<void> {
    const hashes = new Set(pods.map((pod) => pod.metadata.labels?.[revisionHashLabel]));
    const { name } = update.metadata;
    const live = revisions.filter(
      ({ metadata }) => metadata.name === name || hashes.has(metadata.labels?.[revisionHashLabel]),
    );
    // Here those that Pods still run count, too.
    const others = live.filter(({ metadata }) => metadata.name !== name).length;
    await truncateHistory(this.context.client, revisions, {
      limit: Math.max(0, (set.spec.revisionHistoryLimit ?? 10) - others),
      inUse: new Set([name, ...live.map((revision) => revision.metadata.name)]),
    });
  }

  /** Resolves with how long a Pod that failed has to wait for its replacement, where one does. */
  private async place(key: string, input: PlanInput): Promise<number | undefined> {
    const { set, hash } = input;
    const plan = planPlacement(input);
    const waits: number[] = [];
    this.backOff.sweep();
    const ended = plan.finished.filter((pod) => {
      const { uid } = set.metadata;
      const generation = set.status?.observedGeneration;
      const failed = pod.status?.phase === 'Failed';
      const wait = failed ? this.backOff.next(`${uid}/${generation}/${targetNode(pod)}`) : 0;
      if (wait > 0) waits.push(wait);
      else this.tellEnd(set, pod);
      return wait === 0;
    });
    await this.manage(key, set, { create: plan.create, delete: [...plan.delete, ...ended], hash });
    return waits.length > 0 ? Math.min(...waits) : undefined;
  }

  private tellEnd(set: DaemonSet, pod: Pod): void {
    const { recorder } = this.context;
    const { namespace, name } = pod.metadata;
    const where = `pod ${namespace}/${name} on node ${targetNode(pod)}`;
    if (pod.status?.phase === 'Failed')
      recorder.event(set, 'Warning', 'FailedDaemonPod', `Found failed daemon ${where}, will try to kill it`);
    else {
      const message = `Found succeeded daemon ${where}, will try to delete it`;
      recorder.event(set, 'Normal', 'SucceededDaemonPod', message);
    }
  }

  private async manage(
    key: string,
    set: DaemonSet,
    plan: { create: readonly string[]; delete: readonly Pod[]; hash: string },
  ): Promise<void> {
    const toCreate = plan.create.slice(0, burst);
    const toDelete = plan.delete.slice(0, burst);
    if (toCreate.length === 0 && toDelete.length === 0) return;
    const trace = this.context.client.traceOf(set);
    this.expectations.expectCreations(key, toCreate.length);
    this.expectations.expectDeletions(key, toDelete.map(keyOf));
    const created = await slowStartBatch(toCreate.length, async (i) => {
      const pod = daemonPod(set, toCreate[i] ?? '', plan.hash);
      await createPod(this.context, { owner: set, pod, trace });
    });
    for (let missed = created.successes; missed < toCreate.length; missed++)
      this.expectations.creationObserved(key);
    const deleted = await settleInTurns(toDelete, (pod) =>
      deletePod(this.context, { owner: set, pod, trace }),
    );
    let error = created.error;
    deleted.forEach((result, i) => {
      const pod = toDelete[i];
      if (result.status === 'fulfilled' || !pod) return;
      this.expectations.deletionObserved(key, keyOf(pod));
      error ??= result.reason;
    });
    if (error) throw error;
  }

  private async revisionsOf(
    set: DaemonSet,
    signal: AbortSignal,
  ): Promise<{ revisions: ControllerRevision[]; update: ControllerRevision; collisionCount: number }> {
    const existing = await this.claimRevisions(set, signal);
    const current = await ensureRevision(this.context.client, existing, {
      owner: set,
      descriptor: DaemonSets,
      template: set.spec.template,
      collisionCount: set.status?.collisionCount ?? 0,
    });
    return { revisions: [...existing], ...current };
  }

  private claimRevisions(set: DaemonSet, signal: AbortSignal): Promise<ControllerRevision[]> {
    const { client } = this.context;
    return claimRevisions({
      owner: set,
      ownerDescriptor: DaemonSets,
      selector: selectorOf(set.spec.selector),
      client: client.for(ControllerRevisions),
      candidates: childCandidates(this.revisions, set),
      freshOwner: () => client.for(DaemonSets).get(set.metadata.name, { namespace: set.metadata.namespace }),
      signal,
    });
  }

  private claimPods(set: DaemonSet, signal: AbortSignal): Promise<Pod[]> {
    const { client } = this.context;
    const selector = selectorOf(set.spec.selector);
    return claimChildren({
      owner: set,
      ownerDescriptor: DaemonSets,
      client: client.for(Pods),
      candidates: childCandidates(this.pods, set),
      matches: (pod) => selector.matches(pod.metadata.labels),
      freshOwner: () => client.for(DaemonSets).get(set.metadata.name, { namespace: set.metadata.namespace }),
      signal,
    });
  }
}

function daemonPod(set: DaemonSet, nodeName: string, hash: string) {
  const pod = podFromTemplate({
    owner: set,
    controllerRef: controllerRefOf(set, DaemonSets),
    template: set.spec.template,
  });
  const generation = set.metadata.annotations?.[templateGeneration];
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: {
        ...pod.metadata.labels,
        [revisionHashLabel]: hash,
        ...(generation ? { 'pod-template-generation': generation } : {}),
      },
    },
    spec: specForNode(pod.spec, nodeName),
  };
}

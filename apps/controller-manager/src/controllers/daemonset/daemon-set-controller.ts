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
import { ensureRevision, revisionHashLabel, truncateHistory } from '../shared/controller-revisions';
import { childCandidates, indexByControllerUid } from '../shared/owner-index';
import { watchOwned } from '../shared/owned-objects';
import { createPod, deletePod, podFromTemplate } from '../shared/pod-control';
import { sameStatus } from '../shared/same-status';
import { watchObjects } from '../shared/watch-objects';
import { decideForNode, specForNode } from './nodes';
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

  constructor(
    private readonly context: ControllerContext,
    enqueue: (key: string) => void,
  ) {
    const { informers, clock } = context;
    this.expectations = new ControllerExpectations(clock);
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
    const { update, revisions, collisionCount } = await this.revisionsOf(set);
    const hash = update.metadata.labels?.[revisionHashLabel] ?? '';
    const read = async (): Promise<PlanInput> => ({
      set,
      nodes: this.nodes.lister.list(),
      pods: await this.claimPods(set, signal),
      hash,
      now: clock.now(),
    });
    if (this.expectations.satisfied(key)) await this.place(key, await read());
    if (set.spec.updateStrategy?.type !== 'OnDelete' && this.expectations.satisfied(key)) {
      const input = await read();
      await this.manage(key, set, { ...planRollingUpdate(input), hash });
    }
    const input = await read();
    const status = calculateStatus(input, collisionCount);
    if (!sameStatus(set.status, status)) {
      await client
        .for(DaemonSets)
        .updateStatus({ ...set, status }, { namespace: set.metadata.namespace, trace: client.traceOf(set) })
        .catch(ignoreNotFound);
    }
    const inUse = new Set([
      update.metadata.name,
      ...input.pods.map((p) => `${set.metadata.name}-${p.metadata.labels?.[revisionHashLabel]}`),
    ]);
    await truncateHistory(client, revisions, { limit: set.spec.revisionHistoryLimit ?? 10, inUse });
    const { minReadySeconds = 0 } = set.spec;
    if (minReadySeconds > 0 && status.numberReady !== status.numberAvailable)
      return { requeueAfterMs: minReadySeconds * 1000 };
  }

  private async place(key: string, input: PlanInput): Promise<void> {
    const { recorder } = this.context;
    const { set, hash } = input;
    const plan = planPlacement(input);
    for (const pod of plan.finished) {
      const { namespace, name } = pod.metadata;
      const where = `pod ${namespace}/${name} on node ${pod.spec.nodeName}`;
      if (pod.status?.phase === 'Failed')
        recorder.event(
          set,
          'Warning',
          'FailedDaemonPod',
          `Found failed daemon ${where}, will try to kill it`,
        );
      else
        recorder.event(
          set,
          'Normal',
          'SucceededDaemonPod',
          `Found succeeded daemon ${where}, will try to delete it`,
        );
    }
    await this.manage(key, set, { ...plan, hash });
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
  ): Promise<{ revisions: ControllerRevision[]; update: ControllerRevision; collisionCount: number }> {
    const existing = childCandidates(this.revisions, set).filter((r) =>
      r.metadata.ownerReferences?.some((o) => o.uid === set.metadata.uid),
    );
    const current = await ensureRevision(this.context.client, existing, {
      owner: set,
      descriptor: DaemonSets,
      template: set.spec.template,
      collisionCount: set.status?.collisionCount ?? 0,
    });
    return { revisions: [...existing], ...current };
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

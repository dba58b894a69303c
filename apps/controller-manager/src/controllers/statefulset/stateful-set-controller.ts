import {
  ControllerRevisions,
  PersistentVolumeClaims,
  Pods,
  StatefulSets,
  type ControllerRevision,
  type Pod,
  type StatefulSet,
} from '@tinkernetes/api';
import { ignoreNotFound, isAlreadyExists, isNotFound, selectorOf } from '@tinkernetes/apimachinery';
import { claimChildren, type ReconcileResult, type Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { ensureRevision, templateOf, truncateHistory } from '../shared/controller-revisions';
import { childCandidates, indexByControllerUid } from '../shared/owner-index';
import { watchOwned } from '../shared/owned-objects';
import { sameStatus } from '../shared/same-status';
import { watchObjects } from '../shared/watch-objects';
import { isLeaving, missingOwners } from './claim-retention';
import { memberClaims, memberPod, ordinalOf, podName, revisionOfPod, type MemberRevision } from './identity';
import { registerSetMetrics } from './metrics';
import { planActions, type Action } from './plan';
import { calculateStatus } from './status';

/**
 * Keeps numbered Pods with stable names and claims of their own. Watches StatefulSets, Pods, ControllerRevisions and
 * PersistentVolumeClaims; writes all of them. Source: k8s.io/kubernetes/pkg/controller/statefulset.
 */
export function startStatefulSetController(context: ControllerContext): RunnableController {
  const queue = context.queues.create('statefulset');
  const reconciler = new StatefulSetController(context, (key) => queue.add(key));
  return queueController({
    context,
    queue,
    reconciler,
    concurrency: context.flags['concurrent-statefulset-syncs'],
  });
}

class StatefulSetController implements Reconciler {
  readonly name = 'statefulset-controller';
  private readonly sets;
  private readonly pods;
  private readonly revisions;
  private readonly claims;

  constructor(
    private readonly context: ControllerContext,
    enqueue: (key: string) => void,
  ) {
    const { informers } = context;
    this.sets = informers.for(StatefulSets);
    registerSetMetrics(context.metrics, this.sets.lister);
    this.pods = informers.for(Pods);
    this.revisions = informers.for(ControllerRevisions);
    this.claims = informers.for(PersistentVolumeClaims);
    indexByControllerUid(this.pods);
    indexByControllerUid(this.revisions);
    watchObjects(this.sets, enqueue);
    watchOwned({
      children: this.pods,
      owners: this.sets,
      enqueue,
      selectorOf: (set) => selectorOf(set.spec.selector),
    });
  }

  async reconcile(key: string, { signal }: { signal: AbortSignal }): Promise<ReconcileResult | void> {
    const set = this.sets.lister.getByKey(key);
    if (!set) return;
    const { clock } = this.context;
    const pods = await this.claimPods(set, signal);
    const { revisions, update, collisionCount } = await this.revisionsOf(set);
    const current = revisions.find((r) => r.metadata.name === set.status?.currentRevision) ?? update;
    const input = { set, pods, updateRevision: update.metadata.name, now: clock.now() };
    const actions = planActions(input);
    // The status goes first: what it counts is what the actions were planned from.
    await this.writeStatus(set, {
      pods,
      currentRevision: current.metadata.name,
      updateRevision: update.metadata.name,
      collisionCount,
      now: clock.now(),
    });
    if (!set.metadata.deletionTimestamp) await this.keepClaimsOwned(set, pods);
    await this.perform(set, actions, { current: memberRevision(current), update: memberRevision(update) });
    if (set.metadata.deletionTimestamp) return;
    await truncateHistory(this.context.client, revisions, {
      limit: set.spec.revisionHistoryLimit ?? 10,
      inUse: new Set([current.metadata.name, update.metadata.name, ...pods.map(revisionOfPod)]),
    });
    return this.whenAvailable(set, pods);
  }

  private async perform(
    set: StatefulSet,
    actions: readonly Action[],
    revisions: Record<'current' | 'update', MemberRevision>,
  ): Promise<void> {
    const deletions = actions.filter((a) => a.do === 'delete');
    const creations = actions.filter((a) => a.do === 'create');
    await settleAll(deletions.map(({ pod, because }) => this.deletePod(set, pod, because)));
    await settleAll(
      creations.map(({ ordinal, revision }) => this.createPod(set, ordinal, revisions[revision])),
    );
  }

  private async createPod(set: StatefulSet, ordinal: number, revision: MemberRevision): Promise<void> {
    const { client, recorder } = this.context;
    const { namespace, name: setName } = set.metadata;
    const name = podName(set, ordinal);
    const trace = client.traceOf(set);
    try {
      await this.createClaims(set, ordinal);
      await client.for(Pods).create(memberPod(set, ordinal, revision), { namespace, trace });
      recorder.event(
        set,
        'Normal',
        'SuccessfulCreate',
        `create Pod ${name} in StatefulSet ${setName} successful`,
      );
    } catch (error) {
      if (isAlreadyExists(error)) return this.checkNameIsOurs(set, name, error);
      const { message } = error as Error;
      recorder.event(
        set,
        'Warning',
        'FailedCreate',
        `create Pod ${name} in StatefulSet ${setName} failed error: ${message}`,
      );
      throw error;
    }
  }

  /** The name is taken: by our own Pod, which the cache will show, or by a stranger's, which has to go first. */
  private async checkNameIsOurs(set: StatefulSet, name: string, cause: unknown): Promise<void> {
    const pod = await this.context.client
      .for(Pods)
      .get(name, { namespace: set.metadata.namespace })
      .catch(ignoreNotFound);
    if (pod?.metadata.ownerReferences?.some((o) => o.uid === set.metadata.uid)) return;
    throw new Error(`pod ${name} exists already and is not of this set`, { cause });
  }

  private async createClaims(set: StatefulSet, ordinal: number): Promise<void> {
    const { client, recorder } = this.context;
    const { namespace, name: setName } = set.metadata;
    for (const claim of memberClaims(set, ordinal)) {
      const { name } = claim.metadata;
      const existing = this.claims.lister.get(name, namespace);
      if (existing && isLeaving(existing, podName(set, ordinal)))
        throw new Error(`pvc ${name} is being deleted`);
      if (existing) continue;
      const subject = `create Claim ${name} Pod ${podName(set, ordinal)} in StatefulSet ${setName}`;
      try {
        await client.for(PersistentVolumeClaims).create(claim, { namespace, trace: client.traceOf(set) });
        recorder.event(set, 'Normal', 'SuccessfulCreate', `${subject} success`);
      } catch (error) {
        if (isAlreadyExists(error)) continue;
        recorder.event(
          set,
          'Warning',
          'FailedCreate',
          `${subject} failed error: ${(error as Error).message}`,
        );
        throw error;
      }
    }
  }

  private async deletePod(
    set: StatefulSet,
    pod: Pod,
    because: 'finished' | 'condemned' | 'update',
  ): Promise<void> {
    const { client, recorder } = this.context;
    const { name, namespace, uid } = pod.metadata;
    const setName = set.metadata.name;
    if (because === 'finished') {
      const [type, reason, what] =
        pod.status?.phase === 'Failed'
          ? (['Warning', 'RecreatingFailedPod', 'failed'] as const)
          : (['Normal', 'RecreatingTerminatedPod', 'terminated'] as const);
      recorder.event(
        set,
        type,
        reason,
        `StatefulSet ${namespace}/${setName} is recreating ${what} Pod ${name}`,
      );
    }
    try {
      await client.for(Pods).delete(name, { namespace, preconditions: { uid }, trace: client.traceOf(set) });
    } catch (error) {
      if (isNotFound(error)) return;
      const { message } = error as Error;
      recorder.event(
        set,
        'Warning',
        'FailedDelete',
        `delete Pod ${name} in StatefulSet ${setName} failed error: ${message}`,
      );
      throw error;
    }
    recorder.event(
      set,
      'Normal',
      'SuccessfulDelete',
      `delete Pod ${name} in StatefulSet ${setName} successful`,
    );
  }

  /** Claims get the owners that the retention policy calls for, before the Pod goes that one of them may go with. */
  private async keepClaimsOwned(set: StatefulSet, pods: readonly Pod[]): Promise<void> {
    const { namespace } = set.metadata;
    const claims = this.context.client.for(PersistentVolumeClaims);
    for (const pod of pods) {
      for (const { metadata } of memberClaims(set, ordinalOf(set, pod.metadata.name) ?? 0)) {
        const claim = this.claims.lister.get(metadata.name, namespace);
        const ownerReferences = claim && missingOwners(set, pod, claim);
        if (!claim || !ownerReferences) continue;
        await claims
          .update({ ...claim, metadata: { ...claim.metadata, ownerReferences } }, { namespace })
          .catch(ignoreNotFound);
      }
    }
  }

  private async writeStatus(set: StatefulSet, input: Parameters<typeof calculateStatus>[1]): Promise<void> {
    const { client } = this.context;
    const status = calculateStatus(set, input);
    if (sameStatus(set.status, status)) return;
    await client
      .for(StatefulSets)
      .updateStatus({ ...set, status }, { namespace: set.metadata.namespace, trace: client.traceOf(set) })
      .catch(ignoreNotFound);
  }

  private async revisionsOf(
    set: StatefulSet,
  ): Promise<{ revisions: ControllerRevision[]; update: ControllerRevision; collisionCount: number }> {
    const existing = childCandidates(this.revisions, set).filter((r) =>
      r.metadata.ownerReferences?.some((o) => o.uid === set.metadata.uid),
    );
    const current = await ensureRevision(this.context.client, existing, {
      owner: set,
      descriptor: StatefulSets,
      template: set.spec.template,
      collisionCount: set.status?.collisionCount ?? 0,
    });
    const others = existing.filter((r) => r.metadata.name !== current.update.metadata.name);
    return { revisions: [...others, current.update], ...current };
  }

  private claimPods(set: StatefulSet, signal: AbortSignal): Promise<Pod[]> {
    const { client } = this.context;
    const { name, namespace } = set.metadata;
    const selector = selectorOf(set.spec.selector);
    return claimChildren({
      owner: set,
      ownerDescriptor: StatefulSets,
      client: client.for(Pods),
      candidates: childCandidates(this.pods, set),
      matches: (pod) =>
        selector.matches(pod.metadata.labels) && ordinalOf(set, pod.metadata.name) !== undefined,
      freshOwner: () => client.for(StatefulSets).get(name, { namespace }),
      signal,
    });
  }

  /** With minReadySeconds, time alone makes a Pod available. */
  private whenAvailable(set: StatefulSet, pods: readonly Pod[]): ReconcileResult | undefined {
    const minReadyMs = (set.spec.minReadySeconds ?? 0) * 1000;
    const now = this.context.clock.now();
    const waits = pods
      .map((pod) => pod.status?.conditions?.find((c) => c.type === 'Ready' && c.status === 'True'))
      .map((ready) => Date.parse(ready?.lastTransitionTime ?? '') + minReadyMs - now)
      .filter((ms) => ms > 0);
    return minReadyMs > 0 && waits.length > 0 ? { requeueAfterMs: Math.min(...waits) } : undefined;
  }
}

const memberRevision = (revision: ControllerRevision): MemberRevision => ({
  name: revision.metadata.name,
  template: templateOf(revision),
});

/** Waits for all, then throws the first failure. */
async function settleAll(work: ReadonlyArray<Promise<void>>): Promise<void> {
  const results = await Promise.allSettled(work);
  const failure = results.find((r) => r.status === 'rejected');
  if (failure) throw failure.reason;
}

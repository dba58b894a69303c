import {
  ControllerRevisions,
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
import { claimRevisions, ensureRevision, templateOf, truncateHistory } from '../shared/controller-revisions';
import { childCandidates, indexByControllerUid } from '../shared/owner-index';
import { watchOwned } from '../shared/owned-objects';
import { sameStatus } from '../shared/same-status';
import { watchObjects } from '../shared/watch-objects';
import {
  identityLabels,
  memberPod,
  ordinalOf,
  podName,
  revisionOfPod,
  type MemberRevision,
} from './identity';
import { MemberClaims } from './member-claims';
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
    this.claims = new MemberClaims(context);
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
    const { revisions, update, collisionCount } = await this.revisionsOf(set, signal);
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
    if (!set.metadata.deletionTimestamp) await this.claims.keepOwned(set, pods);
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
    const ofKind = <K extends Action['do']>(kind: K) =>
      actions.filter((action): action is Extract<Action, { do: K }> => action.do === kind);
    await settleAll([
      ...ofKind('delete').map(({ pod }) => this.deletePod(set, pod)),
      ...ofKind('identify').map(({ pod }) => this.identify(set, pod)),
      ...ofKind('claim').map(({ ordinal }) => this.claims.create(set, ordinal)),
    ]);
    await settleAll(
      ofKind('create').map(({ ordinal, revision }) => this.createPod(set, ordinal, revisions[revision])),
    );
  }

  private async createPod(set: StatefulSet, ordinal: number, revision: MemberRevision): Promise<void> {
    const { client } = this.context;
    const { namespace } = set.metadata;
    const name = podName(set, ordinal);
    const trace = client.traceOf(set);
    this.claims.checkFree(set, ordinal);
    try {
      await this.claims.create(set, ordinal);
      await client.for(Pods).create(memberPod(set, ordinal, revision), { namespace, trace });
      this.tell(set, name, { verb: 'create' });
    } catch (error) {
      if (isAlreadyExists(error)) return this.checkNameIsOurs(set, name, error);
      this.tell(set, name, { verb: 'create', error });
      throw error;
    }
  }

  private tell(
    set: StatefulSet,
    pod: string,
    { verb, error }: { verb: 'create' | 'update' | 'delete'; error?: unknown },
  ): void {
    const { recorder } = this.context;
    const what = `${verb} Pod ${pod} in StatefulSet ${set.metadata.name}`;
    const reason = verb[0]?.toUpperCase() + verb.slice(1);
    if (error === undefined) recorder.event(set, 'Normal', `Successful${reason}`, `${what} successful`);
    else {
      const message = `${what} failed error: ${(error as Error).message}`;
      recorder.event(set, 'Warning', `Failed${reason}`, message);
    }
  }

  private async identify(set: StatefulSet, pod: Pod): Promise<void> {
    const { name, namespace } = pod.metadata;
    const labels = { ...pod.metadata.labels, ...identityLabels(name, ordinalOf(set, name) ?? 0) };
    const { client } = this.context;
    try {
      await client
        .for(Pods)
        .update({ ...pod, metadata: { ...pod.metadata, labels } }, { namespace, trace: client.traceOf(set) });
      this.tell(set, name, { verb: 'update' });
    } catch (error) {
      if (isNotFound(error)) return;
      this.tell(set, name, { verb: 'update', error });
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

  private async deletePod(set: StatefulSet, pod: Pod): Promise<void> {
    const { client } = this.context;
    const { name, namespace, uid } = pod.metadata;
    try {
      await client.for(Pods).delete(name, { namespace, preconditions: { uid }, trace: client.traceOf(set) });
    } catch (error) {
      if (isNotFound(error)) return;
      this.tell(set, name, { verb: 'delete', error });
      throw error;
    }
    this.tell(set, name, { verb: 'delete' });
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
    signal: AbortSignal,
  ): Promise<{ revisions: ControllerRevision[]; update: ControllerRevision; collisionCount: number }> {
    const { client } = this.context;
    const { name, namespace } = set.metadata;
    const existing = await claimRevisions({
      owner: set,
      ownerDescriptor: StatefulSets,
      selector: selectorOf(set.spec.selector),
      client: client.for(ControllerRevisions),
      candidates: childCandidates(this.revisions, set),
      freshOwner: () => client.for(StatefulSets).get(name, { namespace }),
      signal,
    });
    const current = await ensureRevision(client, existing, {
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

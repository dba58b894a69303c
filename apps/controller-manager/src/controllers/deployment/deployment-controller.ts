import {
  Deployments,
  Pods,
  ReplicaSets,
  type Deployment,
  type DeploymentStatus,
  type Pod,
  type ReplicaSet,
} from '@tinkernetes/api';
import {
  ignoreNotFound,
  controllerOf,
  findCondition,
  isAlreadyExists,
  keyOf,
  selectorOf,
} from '@tinkernetes/apimachinery';
import {
  claimChildren,
  controllerRefOf,
  type ReconcileResult,
  type Reconciler,
} from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { childCandidates, controllerUidIndex, indexByControllerUid } from '../shared/owner-index';
import { sameStatus } from '../shared/same-status';
import {
  annotations,
  maxRevision,
  newReplicaSetAnnotations,
  replicaAnnotations,
  revisionOf,
  sameAnnotations,
} from './annotations';
import { findNewReplicaSet, hashLabel, podTemplateHash, sameTemplate } from './pod-template-hash';
import { scaleProportionally } from './proportional-scaling';
import { newReplicaSetSize, replicasOf, shrinkOldReplicaSets, totalReplicas } from './rolling-update';
import { calculateStatus, isComplete, rolloutStatus, untilDeadline, withCondition } from './status';

const name = 'deployment-controller';

/** A Deployment with its ReplicaSets as they are while one reconcile goes on. */
interface Rollout {
  deployment: Deployment;
  /** All that exist, the new one included. */
  all: ReplicaSet[];
  next: ReplicaSet | undefined;
  old: ReplicaSet[];
}

/**
 * Brings a Deployment's ReplicaSets to its template, step by step within maxSurge and maxUnavailable. Watches
 * Deployments, ReplicaSets and Pods; writes ReplicaSets and the Deployment's status.
 * Source: k8s.io/kubernetes/pkg/controller/deployment.
 */
export function startDeploymentController(context: ControllerContext): RunnableController {
  const queue = context.queues.create('deployment');
  const controller = new DeploymentController(context, (key) => queue.add(key));
  return queueController({
    context,
    queue,
    reconciler: controller,
    concurrency: context.flags['concurrent-deployment-syncs'],
  });
}

class DeploymentController implements Reconciler {
  readonly name = name;
  private readonly deployments;
  private readonly replicaSets;
  private readonly pods;

  constructor(
    private readonly context: ControllerContext,
    enqueue: (key: string) => void,
  ) {
    const { informers } = context;
    this.deployments = informers.for(Deployments);
    this.replicaSets = informers.for(ReplicaSets);
    this.pods = informers.for(Pods);
    indexByControllerUid(this.replicaSets);
    indexByControllerUid(this.pods);
    this.deployments.addEventHandler({
      added: (d) => enqueue(keyOf(d)),
      updated: (_, d) => enqueue(keyOf(d)),
      deleted: (d) => enqueue(keyOf(d)),
    });
    const enqueueOwner = (set: ReplicaSet) => {
      const owner = controllerOf(set);
      if (owner?.kind === 'Deployment') return enqueue(`${set.metadata.namespace}/${owner.name}`);
      if (owner) return;
      for (const d of this.deployments.lister.list(set.metadata.namespace)) {
        const selector = selectorOf(d.spec.selector);
        if (!selector.isEverything && selector.matches(set.metadata.labels)) enqueue(keyOf(d));
      }
    };
    this.replicaSets.addEventHandler({
      added: enqueueOwner,
      updated: (before, after) => {
        if (controllerOf(before)?.uid !== controllerOf(after)?.uid) enqueueOwner(before);
        enqueueOwner(after);
      },
      deleted: enqueueOwner,
    });
    // Recreate waits for the last old Pod: only that Pod's end matters here.
    this.pods.addEventHandler({
      deleted: (pod) => {
        const deployment = this.deploymentOf(pod);
        if (deployment?.spec.strategy?.type === 'Recreate') enqueue(keyOf(deployment));
      },
    });
  }

  async reconcile(key: string, { signal }: { signal: AbortSignal }): Promise<ReconcileResult | void> {
    const deployment = this.deployments.lister.getByKey(key);
    if (!deployment) return;
    const { client, tracer } = this.context;
    const object = {
      kind: 'Deployment',
      namespace: deployment.metadata.namespace,
      name: deployment.metadata.name,
      uid: deployment.metadata.uid,
    };
    await tracer.step('deployment.reconcile', { parent: client.traceOf(deployment), object }, async () => {
      const all = await this.claim(deployment, signal);
      if (deployment.metadata.deletionTimestamp)
        return this.writeStatus(
          deployment,
          calculateStatus(
            deployment,
            { all, next: this.findNext(deployment, all) },
            this.context.clock.now(),
          ),
        );
      const rollout = this.rolloutOf(deployment, all);
      await this.sync(rollout);
    });
    return this.progressCheck(key);
  }

  private async sync(rollout: Rollout): Promise<void> {
    const { deployment } = rollout;
    const updated = await this.checkPausedCondition(rollout);
    if (updated) return;
    if (deployment.spec.paused || this.isScalingEvent(rollout)) {
      await this.scale(rollout);
      if (deployment.spec.paused && !this.hasOldReplicas(rollout)) await this.cleanUp(rollout);
      await this.writeStatus(deployment, calculateStatus(deployment, rollout, this.context.clock.now()));
      return;
    }
    if (deployment.spec.strategy?.type === 'Recreate') await this.recreate(rollout);
    else await this.rollingUpdate(rollout);
    const status = rolloutStatus(rollout.deployment, rollout, this.context.clock.now());
    if (isComplete(rollout.deployment, status)) await this.cleanUp(rollout);
    // The revision may have been written meanwhile: the status goes onto that version.
    await this.writeStatus(rollout.deployment, status);
  }

  private async rollingUpdate(rollout: Rollout): Promise<void> {
    await this.ensureNext(rollout);
    const { deployment, next } = rollout;
    if (!next) return;
    const current = replicasOf(next);
    const wanted = deployment.spec.replicas ?? 1;
    const size = current > wanted ? wanted : newReplicaSetSize(deployment, rollout.all, current);
    if (size !== current) {
      await this.resize(rollout, next, size);
      return;
    }
    for (const [setName, oldSize] of shrinkOldReplicaSets(deployment, rollout)) {
      const set = rollout.old.find((s) => s.metadata.name === setName);
      if (set) await this.resize(rollout, set, oldSize);
    }
  }

  private async recreate(rollout: Rollout): Promise<void> {
    const toStop = rollout.old.filter((set) => replicasOf(set) > 0);
    if (toStop.length > 0) {
      for (const set of toStop) await this.resize(rollout, set, 0);
      return;
    }
    if (
      rollout.old.some((set) =>
        this.podsOf(set).some((pod) => pod.status?.phase !== 'Failed' && pod.status?.phase !== 'Succeeded'),
      )
    )
      return;
    await this.ensureNext(rollout);
    const { next, deployment } = rollout;
    if (next && replicasOf(next) !== (deployment.spec.replicas ?? 1))
      await this.resize(rollout, next, deployment.spec.replicas ?? 1);
  }

  /** Brings all ReplicaSets to a new number of replicas without moving the rollout itself. */
  private async scale(rollout: Rollout): Promise<void> {
    const { deployment, all } = rollout;
    const wanted = deployment.spec.replicas ?? 1;
    const active = all.filter((set) => replicasOf(set) > 0);
    const [only] =
      active.length === 1 ? active : active.length === 0 ? [rollout.next ?? this.latest(all)] : [];
    if (only) {
      await this.resize(rollout, only, wanted);
      return;
    }
    const { next } = rollout;
    const isSaturated =
      next &&
      replicasOf(next) === wanted &&
      Number(next.metadata.annotations?.[annotations.desiredReplicas]) === wanted &&
      next.status?.availableReplicas === wanted;
    if (isSaturated) {
      for (const set of rollout.old.filter((s) => replicasOf(s) > 0)) await this.resize(rollout, set, 0);
      return;
    }
    if (deployment.spec.strategy?.type !== 'RollingUpdate') return;
    for (const [setName, size] of scaleProportionally(deployment, all)) {
      const set = all.find((s) => s.metadata.name === setName);
      if (set) await this.resize(rollout, set, size);
    }
  }

  private isScalingEvent({ deployment, all }: Rollout): boolean {
    const wanted = String(deployment.spec.replicas ?? 1);
    return all.some((set) => {
      const desired = set.metadata.annotations?.[annotations.desiredReplicas];
      return replicasOf(set) > 0 && desired !== undefined && desired !== wanted;
    });
  }

  /** Creates the new ReplicaSet, or brings an existing one's annotations and the Deployment's revision up to date. */
  private async ensureNext(rollout: Rollout): Promise<void> {
    const { deployment, old, next } = rollout;
    const { client, tracer } = this.context;
    const { namespace = '' } = deployment.metadata;
    const revision = maxRevision(old) + 1;
    const trace = client.traceOf(deployment);
    if (next) {
      const wanted = newReplicaSetAnnotations(deployment, next, revision);
      if (
        !sameAnnotations(next.metadata.annotations, wanted) ||
        next.spec.minReadySeconds !== deployment.spec.minReadySeconds
      ) {
        const changed = {
          ...next,
          metadata: { ...next.metadata, annotations: wanted },
          spec: { ...next.spec, minReadySeconds: deployment.spec.minReadySeconds },
        };
        this.replace(rollout, await client.for(ReplicaSets).update(changed, { namespace, trace }));
      }
      await this.setRevision(rollout, revisionOf(rollout.next));
      return;
    }
    const object = {
      kind: 'Deployment',
      namespace,
      name: deployment.metadata.name,
      uid: deployment.metadata.uid,
    };
    const created = await tracer.step('deployment.replicaset', { parent: trace, object }, (span) =>
      this.createNext(rollout, { revision, trace: span.traceParent ?? trace }),
    );
    if (created) {
      rollout.all.push(created);
      rollout.next = created;
      await this.setRevision(rollout, revision);
    }
  }

  private async createNext(
    rollout: Rollout,
    { revision, trace }: { revision: number; trace: string | undefined },
  ): Promise<ReplicaSet | undefined> {
    const { deployment, all } = rollout;
    const { client, recorder, clock } = this.context;
    const { namespace = '' } = deployment.metadata;
    const hash = podTemplateHash(deployment.spec.template, deployment.status?.collisionCount ?? 0);
    const template = deployment.spec.template;
    const labels = { ...template.metadata?.labels, [hashLabel]: hash };
    const blank: ReplicaSet = {
      metadata: {
        name: `${deployment.metadata.name}-${hash}`,
        namespace,
        labels,
        ownerReferences: [controllerRefOf(deployment, Deployments)],
      },
      spec: {
        replicas: 0,
        minReadySeconds: deployment.spec.minReadySeconds,
        selector: {
          ...deployment.spec.selector,
          matchLabels: { ...deployment.spec.selector.matchLabels, [hashLabel]: hash },
        },
        template: { ...template, metadata: { ...template.metadata, labels } },
      },
    };
    const replicas = newReplicaSetSize(deployment, [...all, blank], 0);
    const set: ReplicaSet = {
      ...blank,
      metadata: { ...blank.metadata, annotations: newReplicaSetAnnotations(deployment, undefined, revision) },
      spec: { ...blank.spec, replicas },
    };
    try {
      const created = await client.for(ReplicaSets).create(set, { namespace, trace });
      if (replicas > 0)
        recorder.event(
          deployment,
          'Normal',
          'ScalingReplicaSet',
          `Scaled up replica set ${created.metadata.name} from 0 to ${replicas}`,
        );
      return created;
    } catch (error) {
      if (isAlreadyExists(error)) {
        await this.resolveCollision(deployment, set);
        return undefined;
      }
      const message = `Failed to create new replica set "${set.metadata.name}": ${(error as Error).message}`;
      const conditions = withCondition(
        deployment.status?.conditions,
        { type: 'Progressing', status: 'False', reason: 'ReplicaSetCreateError', message },
        clock.now(),
      );
      await this.writeStatus(deployment, { ...deployment.status, conditions });
      recorder.event(deployment, 'Warning', 'ReplicaSetCreateError', message);
      throw error;
    }
  }

  /** The name is taken: by our own ReplicaSet that the cache doesn't know yet, or by a stranger whose hash collides. */
  private async resolveCollision(deployment: Deployment, wanted: ReplicaSet): Promise<void> {
    const { client } = this.context;
    const { namespace } = deployment.metadata;
    const existing = await client.for(ReplicaSets).get(wanted.metadata.name, { namespace });
    const isOurs =
      controllerOf(existing)?.uid === deployment.metadata.uid &&
      existing.spec.template &&
      sameTemplate(existing.spec.template, deployment.spec.template);
    if (isOurs)
      throw new Error(`replica set ${wanted.metadata.name} exists already and is not in the cache yet`);
    await this.writeStatus(deployment, {
      ...deployment.status,
      collisionCount: (deployment.status?.collisionCount ?? 0) + 1,
    });
    throw new Error(`the hash of ${wanted.metadata.name} collides with another replica set's`);
  }

  private async resize(rollout: Rollout, set: ReplicaSet, size: number): Promise<void> {
    const { deployment } = rollout;
    const { client, recorder } = this.context;
    const before = replicasOf(set);
    const counts = replicaAnnotations(deployment);
    const annotationsAreCurrent = Object.entries(counts).every(
      ([key, value]) => set.metadata.annotations?.[key] === value,
    );
    if (before === size && annotationsAreCurrent) return;
    const changed: ReplicaSet = {
      ...set,
      metadata: { ...set.metadata, annotations: { ...set.metadata.annotations, ...counts } },
      spec: { ...set.spec, replicas: size },
    };
    this.replace(
      rollout,
      await client
        .for(ReplicaSets)
        .update(changed, { namespace: set.metadata.namespace, trace: client.traceOf(deployment) }),
    );
    if (before === size) return;
    const direction = size > before ? 'up' : 'down';
    recorder.event(
      deployment,
      'Normal',
      'ScalingReplicaSet',
      `Scaled ${direction} replica set ${set.metadata.name} from ${before} to ${size}`,
    );
  }

  /** Deletes old ReplicaSets beyond revisionHistoryLimit, the oldest revisions first. */
  private async cleanUp({ deployment, old }: Rollout): Promise<void> {
    const limit = deployment.spec.revisionHistoryLimit;
    if (limit === undefined || limit === 2147483647) return;
    const idle = old.filter((set) => !set.metadata.deletionTimestamp);
    const surplus = [...idle]
      .sort((a, b) => revisionOf(a) - revisionOf(b))
      .slice(0, Math.max(0, idle.length - limit));
    for (const set of surplus) {
      if (
        replicasOf(set) > 0 ||
        (set.status?.replicas ?? 0) > 0 ||
        (set.metadata.generation ?? 0) > (set.status?.observedGeneration ?? 0)
      )
        continue;
      await this.context.client
        .for(ReplicaSets)
        .delete(set.metadata.name, { namespace: set.metadata.namespace })
        .catch(ignoreNotFound);
    }
  }

  private async setRevision(rollout: Rollout, revision: number): Promise<void> {
    const { deployment } = rollout;
    if (revisionOf(deployment) === revision) return;
    const { client } = this.context;
    const changed = {
      ...deployment,
      metadata: {
        ...deployment.metadata,
        annotations: { ...deployment.metadata.annotations, [annotations.revision]: String(revision) },
      },
    };
    rollout.deployment = await client
      .for(Deployments)
      .update(changed, { namespace: deployment.metadata.namespace, trace: client.traceOf(deployment) });
  }

  /** True when the condition had to be written: its own event continues the work. */
  private async checkPausedCondition({ deployment }: Rollout): Promise<boolean> {
    if (deployment.spec.progressDeadlineSeconds === undefined) return false;
    const current = findCondition(deployment.status?.conditions, 'Progressing');
    if (current?.reason === 'ProgressDeadlineExceeded') return false;
    const isPaused = current?.reason === 'DeploymentPaused';
    if (Boolean(deployment.spec.paused) === isPaused) return false;
    // A Deployment that was never paused needs no mark of having been resumed.
    const value = deployment.spec.paused
      ? { reason: 'DeploymentPaused', message: 'Deployment is paused' }
      : { reason: 'DeploymentResumed', message: 'Deployment is resumed' };
    const conditions = withCondition(
      deployment.status?.conditions,
      { type: 'Progressing', status: 'Unknown', ...value },
      this.context.clock.now(),
    );
    await this.writeStatus(deployment, { ...deployment.status, conditions });
    return true;
  }

  private async writeStatus(deployment: Deployment, status: DeploymentStatus): Promise<void> {
    if (sameStatus(deployment.status, status)) return;
    const { client, tracer } = this.context;
    const parent = client.traceOf(deployment);
    const object = {
      kind: 'Deployment',
      namespace: deployment.metadata.namespace,
      name: deployment.metadata.name,
      uid: deployment.metadata.uid,
    };
    await tracer.step('deployment.status', { parent, object }, async (span) => {
      await client
        .for(Deployments)
        .updateStatus(
          { ...deployment, status },
          { namespace: deployment.metadata.namespace, trace: span.traceParent ?? parent },
        );
    });
  }

  /** A rollout that makes no progress is looked at again when its deadline passes. */
  private progressCheck(key: string): ReconcileResult | void {
    const deployment = this.deployments.lister.getByKey(key);
    if (!deployment?.status || isComplete(deployment, deployment.status)) return;
    const left = untilDeadline(deployment, deployment.status, this.context.clock.now());
    if (left !== undefined && left > 0) return { requeueAfterMs: left + 1000 };
  }

  private claim(deployment: Deployment, signal: AbortSignal): Promise<ReplicaSet[]> {
    const selector = selectorOf(deployment.spec.selector);
    const { client } = this.context;
    return claimChildren({
      owner: deployment,
      ownerDescriptor: Deployments,
      client: client.for(ReplicaSets),
      candidates: childCandidates(this.replicaSets, deployment),
      matches: (set) => selector.matches(set.metadata.labels),
      freshOwner: () =>
        client.for(Deployments).get(deployment.metadata.name, { namespace: deployment.metadata.namespace }),
      signal,
    });
  }

  private rolloutOf(deployment: Deployment, all: ReplicaSet[]): Rollout {
    const next = this.findNext(deployment, all);
    return { deployment, all: [...all], next, old: all.filter((set) => set !== next) };
  }

  private findNext = (deployment: Deployment, all: readonly ReplicaSet[]): ReplicaSet | undefined =>
    findNewReplicaSet(deployment.spec.template, all);

  private latest = (sets: readonly ReplicaSet[]): ReplicaSet | undefined =>
    [...sets].sort((a, b) => revisionOf(b) - revisionOf(a))[0];

  private hasOldReplicas = ({ old }: Rollout): boolean => totalReplicas(old) > 0;

  private replace(rollout: Rollout, updated: ReplicaSet): void {
    const isSame = (set: ReplicaSet) => set.metadata.uid === updated.metadata.uid;
    rollout.all = rollout.all.map((set) => (isSame(set) ? updated : set));
    rollout.old = rollout.old.map((set) => (isSame(set) ? updated : set));
    if (rollout.next && isSame(rollout.next)) rollout.next = updated;
  }

  private podsOf = (set: ReplicaSet): readonly Pod[] =>
    this.pods.lister.byIndex(controllerUidIndex, set.metadata.uid ?? '');

  private deploymentOf(pod: Pod): Deployment | undefined {
    const owner = controllerOf(pod);
    if (owner?.kind !== 'ReplicaSet') return undefined;
    const set = this.replicaSets.lister.get(owner.name, pod.metadata.namespace);
    const parent = set && controllerOf(set);
    return parent ? this.deployments.lister.get(parent.name, pod.metadata.namespace) : undefined;
  }
}

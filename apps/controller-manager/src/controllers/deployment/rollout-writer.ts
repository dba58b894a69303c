import {
  Deployments,
  ReplicaSets,
  type Deployment,
  type DeploymentStatus,
  type ReplicaSet,
} from '@tinkernetes/api';
import { controllerOf, findCondition, ignoreNotFound, isAlreadyExists } from '@tinkernetes/apimachinery';
import { TerminalError } from '@tinkernetes/controller';
import type { ControllerContext } from '../../manager/context';
import { isNamespaceTerminating } from '../shared/namespace-terminating';
import { sameStatus } from '../shared/same-status';
import {
  annotations,
  maxRevision,
  newReplicaSetAnnotations,
  replicaAnnotations,
  revisionOf,
  sameAnnotations,
} from './annotations';
import { newReplicaSet } from './new-replica-set';
import { sameTemplate } from './pod-template-hash';
import { objectOf, replaceIn, type Rollout } from './rollout';
import { replicasOf } from './rolling-update';
import { hasProgressDeadline, withCondition, type ConditionValue } from './status';

/** What a Deployment's reconcile writes: its ReplicaSets, its revision and its status. */
export class RolloutWriter {
  constructor(private readonly context: ControllerContext) {}

  /** Brings the new ReplicaSet's annotations, where there is one, and the Deployment's revision up to date. */
  async syncNext(rollout: Rollout): Promise<void> {
    const { deployment, old, next } = rollout;
    if (!next) return;
    const { client } = this.context;
    const wanted = newReplicaSetAnnotations(deployment, next, maxRevision(old) + 1);
    const { minReadySeconds } = deployment.spec;
    if (
      !sameAnnotations(next.metadata.annotations, wanted) ||
      (next.spec.minReadySeconds ?? 0) !== (minReadySeconds ?? 0)
    ) {
      const changed = {
        ...next,
        metadata: { ...next.metadata, annotations: wanted },
        spec: { ...next.spec, minReadySeconds },
      };
      const options = { namespace: deployment.metadata.namespace, trace: client.traceOf(deployment) };
      replaceIn(rollout, await client.for(ReplicaSets).update(changed, options));
    }
    const isTold = findCondition(deployment.status?.conditions, 'Progressing') !== undefined;
    const message = `Found new replica set "${next.metadata.name}"`;
    await this.record(rollout, {
      revision: revisionOf(rollout.next),
      progress: isTold ? undefined : { reason: 'FoundNewReplicaSet', message },
    });
  }

  /** As `syncNext`; creates the new ReplicaSet where there is none. */
  async ensureNext(rollout: Rollout): Promise<void> {
    if (rollout.next) return this.syncNext(rollout);
    const { deployment, old } = rollout;
    const { client, tracer } = this.context;
    const revision = maxRevision(old) + 1;
    const trace = client.traceOf(deployment);
    const object = objectOf(deployment);
    const created = await tracer.step('deployment.replicaset', { parent: trace, object }, (span) =>
      this.createNext(rollout, { revision, trace: span.traceParent ?? trace }),
    );
    if (created) {
      rollout.all.push(created);
      rollout.next = created;
      const message = `Created new replica set "${created.metadata.name}"`;
      await this.record(rollout, { revision, progress: { reason: 'NewReplicaSetCreated', message } });
    }
  }

  private async createNext(
    rollout: Rollout,
    { revision, trace }: { revision: number; trace: string | undefined },
  ): Promise<ReplicaSet | undefined> {
    const { deployment, all } = rollout;
    const { client, recorder, clock } = this.context;
    const { namespace = '' } = deployment.metadata;
    const set = newReplicaSet(deployment, all, revision);
    const replicas = replicasOf(set);
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
      if (isNamespaceTerminating(error)) throw new TerminalError((error as Error).message, { cause: error });
      const message = `Failed to create new replica set "${set.metadata.name}": ${(error as Error).message}`;
      if (hasProgressDeadline(deployment)) {
        const conditions = withCondition(
          deployment.status?.conditions,
          { type: 'Progressing', status: 'False', reason: 'ReplicaSetCreateError', message },
          clock.now(),
        );
        await this.writeStatus(deployment, { ...deployment.status, conditions });
      }
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

  async resize(rollout: Rollout, set: ReplicaSet, size: number): Promise<void> {
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
    replaceIn(
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
  async cleanUp({ deployment, old }: Rollout): Promise<void> {
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

  /** Writes the revision, too, through the status: so the Deployment stays of the same generation. */
  private async record(
    rollout: Rollout,
    { revision, progress }: { revision: number; progress?: Pick<ConditionValue, 'reason' | 'message'> },
  ): Promise<void> {
    const { deployment } = rollout;
    const { client, clock } = this.context;
    const tells = progress !== undefined && hasProgressDeadline(deployment);
    if (revisionOf(deployment) === revision && !tells) return;
    const { metadata, status } = deployment;
    const conditions = tells
      ? withCondition(status?.conditions, { type: 'Progressing', status: 'True', ...progress }, clock.now())
      : status?.conditions;
    const changed = {
      ...deployment,
      metadata: {
        ...metadata,
        annotations: { ...metadata.annotations, [annotations.revision]: String(revision) },
      },
      status: { ...status, conditions },
    };
    rollout.deployment = await client
      .for(Deployments)
      .updateStatus(changed, { namespace: metadata.namespace, trace: client.traceOf(deployment) });
  }

  async writeStatus(deployment: Deployment, status: DeploymentStatus): Promise<void> {
    if (sameStatus(deployment.status, status)) return;
    const { client, tracer } = this.context;
    const parent = client.traceOf(deployment);
    const object = objectOf(deployment);
    await tracer.step('deployment.status', { parent, object }, async (span) => {
      await client
        .for(Deployments)
        .updateStatus(
          { ...deployment, status },
          { namespace: deployment.metadata.namespace, trace: span.traceParent ?? parent },
        );
    });
  }
}

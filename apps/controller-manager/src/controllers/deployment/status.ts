import type { Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet } from '@tinkernetes/api';
import { findCondition } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import { maxUnavailableOf, totalReplicas, totalStatus } from './rolling-update';

type ConditionType = 'Progressing' | 'Available' | 'ReplicaFailure';

export interface ConditionValue {
  type: ConditionType;
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
}

/** Conditions with one put in: an equal status keeps its transition time; equal status and reason change nothing. */
export function withCondition(
  conditions: readonly DeploymentCondition[] | undefined,
  value: ConditionValue,
  now: number,
): DeploymentCondition[] {
  const list = conditions ?? [];
  const current = findCondition(list, value.type);
  if (current?.status === value.status && current.reason === value.reason) return [...list];
  const time = formatTime(now);
  const lastTransitionTime = current?.status === value.status ? current.lastTransitionTime : time;
  return [
    ...list.filter((c) => c.type !== value.type),
    { ...value, lastUpdateTime: time, lastTransitionTime },
  ];
}

/** The counts and the Available condition. `all` are the ReplicaSets that exist, `next` the new one among them. */
export function calculateStatus(
  deployment: Deployment,
  { all, next }: { all: readonly ReplicaSet[]; next: ReplicaSet | undefined },
  now: number,
): DeploymentStatus {
  const available = totalStatus(all, 'availableReplicas');
  const total = totalReplicas(all);
  const minimum = (deployment.spec.replicas ?? 1) - maxUnavailableOf(deployment);
  const availability: ConditionValue =
    available >= minimum
      ? {
          type: 'Available',
          status: 'True',
          reason: 'MinimumReplicasAvailable',
          message: 'Deployment has minimum availability.',
        }
      : {
          type: 'Available',
          status: 'False',
          reason: 'MinimumReplicasUnavailable',
          message: 'Deployment does not have minimum availability.',
        };
  return {
    observedGeneration: deployment.metadata.generation,
    replicas: totalStatus(all, 'replicas'),
    updatedReplicas: next?.status?.replicas ?? 0,
    readyReplicas: totalStatus(all, 'readyReplicas'),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, total - available),
    terminatingReplicas: totalStatus(all, 'terminatingReplicas'),
    ...(deployment.status?.collisionCount === undefined
      ? {}
      : { collisionCount: deployment.status.collisionCount }),
    conditions: withCondition(deployment.status?.conditions, availability, now),
  };
}

/** Whether a Deployment wants to know that its rollout is stuck: int32's greatest number stands for no deadline. */
export const hasProgressDeadline = ({ spec }: Deployment): boolean =>
  spec.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds !== 2147483647;

export function isComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const wanted = deployment.spec.replicas ?? 1;
  return (
    status.updatedReplicas === wanted &&
    status.replicas === wanted &&
    status.availableReplicas === wanted &&
    (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  );
}

/** More updated, fewer old, more ready or more available Pods than before. */
function isProgressing(deployment: Deployment, next: DeploymentStatus): boolean {
  const old = deployment.status ?? {};
  const oldOnes = (s: DeploymentStatus) => (s.replicas ?? 0) - (s.updatedReplicas ?? 0);
  return (
    (next.updatedReplicas ?? 0) > (old.updatedReplicas ?? 0) ||
    oldOnes(next) < oldOnes(old) ||
    (next.readyReplicas ?? 0) > (old.readyReplicas ?? 0) ||
    (next.availableReplicas ?? 0) > (old.availableReplicas ?? 0)
  );
}

/** Milliseconds until the progress deadline passes (0 or less: it has); undefined: none is running. */
export function untilDeadline(
  deployment: Deployment,
  status: DeploymentStatus,
  now: number,
): number | undefined {
  const condition = findCondition(status.conditions, 'Progressing');
  const seconds = deployment.spec.progressDeadlineSeconds;
  if (!condition || seconds === undefined || !hasProgressDeadline(deployment)) return undefined;
  if (condition.reason === 'NewReplicaSetAvailable' || condition.reason === 'DeploymentPaused')
    return undefined;
  return Date.parse(condition.lastUpdateTime ?? '') + seconds * 1000 - now;
}

/** Status with the Progressing and ReplicaFailure conditions. Source: deployment syncRolloutStatus. */
export function rolloutStatus(
  deployment: Deployment,
  {
    all,
    next,
    old,
  }: { all: readonly ReplicaSet[]; next: ReplicaSet | undefined; old: readonly ReplicaSet[] },
  now: number,
): DeploymentStatus {
  const status = calculateStatus(deployment, { all, next }, now);
  let conditions = status.conditions ?? [];
  const current = findCondition(conditions, 'Progressing');
  const subject = next ? `ReplicaSet "${next.metadata.name}"` : `Deployment "${deployment.metadata.name}"`;
  const settled = status.replicas === status.updatedReplicas && current?.reason === 'NewReplicaSetAvailable';
  const set = (value: Omit<ConditionValue, 'type'>) =>
    (conditions = withCondition(conditions, { type: 'Progressing', ...value }, now));
  if (!hasProgressDeadline(deployment)) {
    conditions = conditions.filter((c) => c.type !== 'Progressing');
  } else if (!settled) {
    if (isComplete(deployment, status)) {
      set({
        status: 'True',
        reason: 'NewReplicaSetAvailable',
        message: `${subject} has successfully progressed.`,
      });
    } else if (isProgressing(deployment, status)) {
      // The time of the latest progress counts for the deadline, so the condition is made anew.
      const fresh = {
        type: 'Progressing' as const,
        status: 'True' as const,
        reason: 'ReplicaSetUpdated',
        message: `${subject} is progressing.`,
      };
      const time = formatTime(now);
      const lastTransitionTime = current?.status === 'True' ? current.lastTransitionTime : time;
      conditions = [
        ...conditions.filter((c) => c.type !== 'Progressing'),
        { ...fresh, lastUpdateTime: time, lastTransitionTime },
      ];
    } else if ((untilDeadline(deployment, { ...status, conditions }, now) ?? 1) <= 0) {
      set({
        status: 'False',
        reason: 'ProgressDeadlineExceeded',
        message: `${subject} has timed out progressing.`,
      });
    }
  }
  const failure = [...(next ? [next] : []), ...old]
    .map((s) => findCondition(s.status?.conditions, 'ReplicaFailure'))
    .find((c) => c !== undefined);
  conditions = failure
    ? withCondition(
        conditions,
        {
          type: 'ReplicaFailure',
          status: failure.status as 'True',
          reason: failure.reason ?? '',
          message: failure.message ?? '',
        },
        now,
      )
    : conditions.filter((c) => c.type !== 'ReplicaFailure');
  return { ...status, conditions };
}

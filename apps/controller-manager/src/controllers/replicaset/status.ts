import type { Pod, ReplicaSet, ReplicaSetStatus } from '@tinkernetes/api';
import { findCondition, isPodAvailable, isPodReady, selectorOfMap } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';

export interface StatusInput {
  /** Active Pods that the set controls. */
  pods: readonly Pod[];
  /** Its Pods that are being deleted. */
  terminating: number;
  /** What the last attempt to create or delete Pods failed with. */
  failure?: { kind: 'create' | 'delete'; message: string };
  now: number;
}

/** Source: k8s.io/kubernetes/pkg/controller/replicaset calculateStatus. */
export function calculateStatus(
  set: ReplicaSet,
  { pods, terminating, failure, now }: StatusInput,
): ReplicaSetStatus {
  const template = selectorOfMap(set.spec.template?.metadata?.labels);
  const minReady = set.spec.minReadySeconds ?? 0;
  const conditions = set.status?.conditions ?? [];
  const current = findCondition(conditions, 'ReplicaFailure');
  const failed =
    failure && !current
      ? [
          {
            type: 'ReplicaFailure',
            status: 'True',
            reason: failure.kind === 'create' ? 'FailedCreate' : 'FailedDelete',
            message: failure.message,
            lastTransitionTime: formatTime(now),
          },
        ]
      : failure && current
        ? [current]
        : [];
  const next = [...conditions.filter((c) => c.type !== 'ReplicaFailure'), ...failed];
  return {
    replicas: pods.length,
    fullyLabeledReplicas: pods.filter((pod) => template.matches(pod.metadata.labels)).length,
    readyReplicas: pods.filter(isPodReady).length,
    availableReplicas: pods.filter((pod) => isPodAvailable(pod, minReady, now)).length,
    terminatingReplicas: terminating,
    observedGeneration: set.metadata.generation,
    ...(next.length > 0 ? { conditions: next } : {}),
  };
}

/** Milliseconds until the first Pod that is ready becomes available by minReadySeconds; undefined: none will. */
export function untilNextAvailable(set: ReplicaSet, pods: readonly Pod[], now: number): number | undefined {
  const minReadyMs = (set.spec.minReadySeconds ?? 0) * 1000;
  if (minReadyMs === 0) return undefined;
  const waits = pods
    .filter(isPodReady)
    .map(
      (pod) =>
        Date.parse(findCondition(pod.status?.conditions, 'Ready')?.lastTransitionTime ?? '') +
        minReadyMs -
        now,
    )
    .filter((ms) => ms > 0);
  return waits.length > 0 ? Math.min(...waits) : undefined;
}

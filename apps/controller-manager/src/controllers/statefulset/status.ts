import type { Pod, StatefulSet, StatefulSetStatus } from '@tinkernetes/api';
import { isPodAvailable } from '@tinkernetes/apimachinery';
import { revisionOfPod } from './identity';
import { isRunningAndReady } from './plan';

export interface StatusInput {
  pods: readonly Pod[];
  currentRevision: string;
  updateRevision: string;
  collisionCount: number;
  now: number;
}

/** Counts and revisions; a finished rolling update makes the update revision the current one. */
export function calculateStatus(
  set: StatefulSet,
  { pods, currentRevision, updateRevision, collisionCount, now }: StatusInput,
): StatefulSetStatus {
  const living = pods.filter((pod) => !pod.metadata.deletionTimestamp);
  const ready = pods.filter(isRunningAndReady);
  const replicas = pods.length;
  const updated = living.filter((pod) => revisionOfPod(pod) === updateRevision).length;
  const wanted = set.spec.replicas ?? 1;
  const isDone =
    set.spec.updateStrategy?.type !== 'OnDelete' &&
    [replicas, updated, ready.length].every((count) => count === wanted);
  const current = isDone ? updateRevision : currentRevision;
  return {
    observedGeneration: set.metadata.generation,
    replicas,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => isPodAvailable(pod, set.spec.minReadySeconds ?? 0, now)).length,
    currentReplicas: living.filter((pod) => revisionOfPod(pod) === current).length,
    updatedReplicas: updated,
    currentRevision: current,
    updateRevision,
    collisionCount,
    ...(set.status?.conditions ? { conditions: set.status.conditions } : {}),
  };
}

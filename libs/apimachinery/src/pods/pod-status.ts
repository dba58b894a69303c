import type { Container, Pod, PodSpec } from '@tinkernetes/api';
import { findCondition, isConditionTrue } from '../meta/conditions';

/** Condition Ready is True. Source: k8s.io/kubernetes/pkg/api/v1/pod. */
export const isPodReady = (pod: Pod): boolean => isConditionTrue(pod.status?.conditions, 'Ready');

/** Ready for at least `minReadySeconds` at `now` (epoch ms). */
export function isPodAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  const ready = findCondition(pod.status?.conditions, 'Ready');
  if (ready?.status !== 'True') return false;
  if (minReadySeconds === 0) return true;
  return !!ready.lastTransitionTime && Date.parse(ready.lastTransitionTime) + minReadySeconds * 1000 <= now;
}

/** Phase Succeeded or Failed. */
export const isPodTerminal = (pod: Pod): boolean =>
  pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';

/** Neither finished nor being deleted: what workload controllers count. */
export const isPodActive = (pod: Pod): boolean => !isPodTerminal(pod) && !pod.metadata.deletionTimestamp;

/** A sidecar: an init container that is restarted for as long as the Pod lives. */
export const isRestartableInitContainer = (container: Pick<Container, 'restartPolicy'>): boolean =>
  container.restartPolicy === 'Always';

/** Init, ordinary and ephemeral containers, in that order. */
export const allContainers = (spec: PodSpec): Container[] => [
  ...(spec.initContainers ?? []),
  ...spec.containers,
  ...((spec.ephemeralContainers ?? []) as Container[]),
];

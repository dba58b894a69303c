import {
  Pods,
  StatefulSets,
  type OwnerReference,
  type PersistentVolumeClaim,
  type Pod,
  type StatefulSet,
} from '@tinkernetes/api';
import { controllerRefOf } from '@tinkernetes/controller';
import { ordinalOf, startOrdinal } from './identity';

/**
 * The owners that a member's claim is to have by its set's persistentVolumeClaimRetentionPolicy, undefined when it has
 * them: the Pod's own end takes the claim of one that is scaled away, the set's end those of all others. A claim that
 * somebody else controls is left to them. Source: statefulset updateClaimOwnerRefForSetAndPod.
 */
export function missingOwners(
  set: StatefulSet,
  pod: Pod,
  claim: PersistentVolumeClaim,
): OwnerReference[] | undefined {
  const before = claim.metadata.ownerReferences ?? [];
  const others = before.filter((o) => o.uid !== set.metadata.uid && !isPod(o, pod.metadata.name));
  const wanted = others.some((o) => o.controller) ? [] : ownersByPolicy(set, pod);
  const isThere = wanted.every((w) => before.some((b) => b.uid === w.uid && b.controller));
  if (isThere && before.length === others.length + wanted.length) return undefined;
  return [...others, ...wanted];
}

/** Whether the claim goes with an earlier Pod of this name: a new one has to wait for its own. */
export function isLeaving({ metadata }: PersistentVolumeClaim, podName: string): boolean {
  return (
    metadata.deletionTimestamp !== undefined ||
    (metadata.ownerReferences ?? []).some((owner) => isPod(owner, podName))
  );
}

function ownersByPolicy(set: StatefulSet, pod: Pod): OwnerReference[] {
  const { whenDeleted, whenScaled } = set.spec.persistentVolumeClaimRetentionPolicy ?? {};
  if (whenScaled === 'Delete' && isScaledAway(set, pod)) return [controllerRefOf(pod, Pods)];
  return whenDeleted === 'Delete' ? [controllerRefOf(set, StatefulSets)] : [];
}

function isScaledAway(set: StatefulSet, pod: Pod): boolean {
  const place = (ordinalOf(set, pod.metadata.name) ?? 0) - startOrdinal(set);
  return place < 0 || place >= (set.spec.replicas ?? 1);
}

const isPod = (owner: OwnerReference, name: string): boolean => owner.kind === 'Pod' && owner.name === name;

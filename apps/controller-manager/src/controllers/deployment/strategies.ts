import type { Pod, ReplicaSet } from '@tinkernetes/api';
import { isPodTerminal } from '@tinkernetes/apimachinery';
import { annotations } from './annotations';
import { scaleProportionally } from './proportional-scaling';
import { byName, latestOf, type Rollout } from './rollout';
import type { RolloutWriter } from './rollout-writer';
import { newReplicaSetSize, replicasOf, shrinkOldReplicaSets, totalStatus } from './rolling-update';

/** One step within maxSurge and maxUnavailable: the new ReplicaSet grows, or old ones shrink. */
export async function rollingUpdate(rollout: Rollout, writer: RolloutWriter): Promise<void> {
  await writer.ensureNext(rollout);
  const { deployment, next } = rollout;
  if (!next) return;
  const current = replicasOf(next);
  const wanted = deployment.spec.replicas ?? 1;
  const size = current > wanted ? wanted : newReplicaSetSize(deployment, rollout.all, current);
  if (size !== current) return writer.resize(rollout, next, size);
  for (const [name, oldSize] of shrinkOldReplicaSets(deployment, rollout)) {
    const set = byName(rollout.old, name);
    if (set) await writer.resize(rollout, set, oldSize);
  }
}

/** New Pods only when the last old one has ended. */
export async function recreate(
  rollout: Rollout,
  writer: RolloutWriter,
  podsOf: (set: ReplicaSet) => readonly Pod[],
): Promise<void> {
  await writer.syncNext(rollout);
  const toStop = rollout.old.filter((set) => replicasOf(set) > 0);
  for (const set of toStop) await writer.resize(rollout, set, 0);
  if (toStop.length > 0) return;
  if (totalStatus(rollout.old, 'replicas') > 0) return;
  if (rollout.old.some((set) => podsOf(set).some((pod) => !isPodTerminal(pod)))) return;
  await writer.ensureNext(rollout);
  const { next, deployment } = rollout;
  const wanted = deployment.spec.replicas ?? 1;
  if (next && replicasOf(next) !== wanted) await writer.resize(rollout, next, wanted);
}

/** Whether the Deployment's replicas have changed since its ReplicaSets were last sized. */
export function isScalingEvent({ deployment, all }: Rollout): boolean {
  const wanted = String(deployment.spec.replicas ?? 1);
  return all.some((set) => {
    const desired = set.metadata.annotations?.[annotations.desiredReplicas];
    return replicasOf(set) > 0 && desired !== undefined && desired !== wanted;
  });
}

/** Brings all ReplicaSets to a new number of replicas without moving the rollout itself. */
export async function scale(rollout: Rollout, writer: RolloutWriter): Promise<void> {
  const { deployment, all, next, old } = rollout;
  const wanted = deployment.spec.replicas ?? 1;
  const active = all.filter((set) => replicasOf(set) > 0);
  if (active.length < 2) {
    const only = active[0] ?? next ?? latestOf(all);
    if (only) await writer.resize(rollout, only, wanted);
    return;
  }
  if (next && isSaturated(next, wanted)) {
    for (const set of old.filter((s) => replicasOf(s) > 0)) await writer.resize(rollout, set, 0);
    return;
  }
  if (deployment.spec.strategy?.type !== 'RollingUpdate') return;
  for (const [name, size] of scaleProportionally(deployment, all)) {
    const set = byName(all, name);
    if (set) await writer.resize(rollout, set, size);
  }
}

/** All replicas of the new ReplicaSet are there and available. */
const isSaturated = (set: ReplicaSet, wanted: number): boolean =>
  replicasOf(set) === wanted &&
  Number(set.metadata.annotations?.[annotations.desiredReplicas]) === wanted &&
  set.status?.availableReplicas === wanted;

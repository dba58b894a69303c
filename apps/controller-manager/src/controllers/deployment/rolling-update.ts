import type { Deployment, DeploymentSpec, ReplicaSet } from '@tinkernetes/api';
import { scaledValue } from '@tinkernetes/apimachinery';

/** How many Pods more, and how many fewer than asked for, a rolling update may have. */
export interface Fenceposts {
  surge: number;
  unavailable: number;
}

/**
 * maxSurge rounds up, maxUnavailable rounds down; where both come to nothing the latter becomes 1, since the update
 * could not move. Source: k8s.io/kubernetes/pkg/controller/deployment/util.ResolveFenceposts.
 */
export function resolveFenceposts(spec: Pick<DeploymentSpec, 'replicas' | 'strategy'>): Fenceposts {
  if (spec.strategy?.type !== 'RollingUpdate') return { surge: 0, unavailable: 0 };
  const replicas = spec.replicas ?? 1;
  const { maxSurge = '25%', maxUnavailable = '25%' } = spec.strategy.rollingUpdate ?? {};
  const surge = scaledValue(maxSurge, replicas, 'up');
  const unavailable = scaledValue(maxUnavailable, replicas, 'down');
  return surge === 0 && unavailable === 0 ? { surge: 0, unavailable: 1 } : { surge, unavailable };
}

export const maxUnavailableOf = (deployment: Deployment): number => {
  const replicas = deployment.spec.replicas ?? 1;
  if (deployment.spec.strategy?.type !== 'RollingUpdate' || replicas === 0) return 0;
  return Math.min(resolveFenceposts(deployment.spec).unavailable, replicas);
};

export const replicasOf = (set: ReplicaSet): number => set.spec.replicas ?? 1;
export const totalReplicas = (sets: readonly ReplicaSet[]): number =>
  sets.reduce((sum, s) => sum + replicasOf(s), 0);
export const totalStatus = (
  sets: readonly ReplicaSet[],
  field: 'replicas' | 'readyReplicas' | 'availableReplicas' | 'terminatingReplicas',
): number => sets.reduce((sum, s) => sum + (s.status?.[field] ?? 0), 0);

/** To how many replicas the new ReplicaSet goes next. Source: deployment/util.NewRSNewReplicas. */
export function newReplicaSetSize(
  deployment: Deployment,
  all: readonly ReplicaSet[],
  current: number,
): number {
  const wanted = deployment.spec.replicas ?? 1;
  if (deployment.spec.strategy?.type === 'Recreate') return wanted;
  const room = wanted + resolveFenceposts(deployment.spec).surge - totalReplicas(all);
  if (room <= 0) return current;
  return current + Math.min(room, wanted - current);
}

/** New sizes of old ReplicaSets, by name; only those that change. */
export type Resize = ReadonlyMap<string, number>;

const byCreation = (a: ReplicaSet, b: ReplicaSet): number =>
  (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? '') ||
  a.metadata.name.localeCompare(b.metadata.name);

/**
 * How far the old ReplicaSets shrink now: first Pods that never became available, then as many available ones as
 * maxUnavailable allows. Source: deployment reconcileOldReplicaSets.
 */
export function shrinkOldReplicaSets(
  deployment: Deployment,
  { old, next }: { old: readonly ReplicaSet[]; next: ReplicaSet | undefined },
): Resize {
  const sizes = new Map(old.map((set) => [set.metadata.name, replicasOf(set)]));
  const oldTotal = totalReplicas(old);
  if (oldTotal === 0) return new Map();
  const all = next ? [...old, next] : old;
  const minAvailable = (deployment.spec.replicas ?? 1) - maxUnavailableOf(deployment);
  const newUnavailable = next ? replicasOf(next) - (next.status?.availableReplicas ?? 0) : 0;
  const maxScaledDown = totalReplicas(all) - minAvailable - newUnavailable;
  if (maxScaledDown <= 0) return new Map();
  const sorted = [...old].sort(byCreation);

  let cleaned = 0;
  for (const set of sorted) {
    const size = sizes.get(set.metadata.name) ?? 0;
    const unhealthy = size - (set.status?.availableReplicas ?? 0);
    const remove = Math.min(maxScaledDown - cleaned, Math.max(0, unhealthy));
    if (size === 0 || remove <= 0) continue;
    cleaned += remove;
    sizes.set(set.metadata.name, size - remove);
  }

  let removable = totalStatus(all, 'availableReplicas') - minAvailable;
  for (const set of sorted) {
    const size = sizes.get(set.metadata.name) ?? 0;
    if (removable <= 0) break;
    const remove = Math.min(size, removable);
    sizes.set(set.metadata.name, size - remove);
    removable -= remove;
  }
  return new Map(
    [...sizes].filter(
      ([name, size]) => replicasOf(old.find((s) => s.metadata.name === name) as ReplicaSet) !== size,
    ),
  );
}

import type { Deployment, ReplicaSet } from '@tinkernetes/api';
import { annotations } from './annotations';
import { replicasOf, resolveFenceposts, totalReplicas, type Resize } from './rolling-update';

/**
 * New sizes when a Deployment is scaled in the middle of a rollout: each ReplicaSet gets a share of the difference in
 * proportion to its size, so that the risk stays as spread as it was. Source: deployment `scale` and util.GetReplicaSetProportion.
 */
export function scaleProportionally(deployment: Deployment, sets: readonly ReplicaSet[]): Resize {
  const active = sets.filter((set) => replicasOf(set) > 0);
  const current = totalReplicas(active);
  const wanted = deployment.spec.replicas ?? 1;
  const allowed = wanted > 0 ? wanted + resolveFenceposts(deployment.spec).surge : 0;
  const toAdd = allowed - current;
  // Bigger ones first; of equal ones the newer first when growing, the older first when shrinking.
  const sorted = [...active].sort((a, b) => {
    const bySize = replicasOf(b) - replicasOf(a);
    if (bySize !== 0) return bySize;
    const byAge = (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? '');
    return toAdd > 0 ? -byAge : byAge;
  });
  const sizes = new Map<string, number>();
  let added = 0;
  for (const set of sorted) {
    const share = toAdd === 0 ? 0 : shareOf(deployment, set, { toAdd, added, allowed });
    added += share;
    sizes.set(set.metadata.name, replicasOf(set) + share);
  }
  const [largest] = sorted;
  if (largest && toAdd !== 0) {
    const leftover = toAdd - added;
    sizes.set(largest.metadata.name, Math.max(0, (sizes.get(largest.metadata.name) ?? 0) + leftover));
  }
  return sizes;
}

function shareOf(
  deployment: Deployment,
  set: ReplicaSet,
  { toAdd, added, allowed }: { toAdd: number; added: number; allowed: number },
): number {
  if (toAdd === added) return 0;
  const left = toAdd - added;
  const size = replicasOf(set);
  const maxBefore =
    Number(set.metadata.annotations?.[annotations.maxReplicas]) || deployment.status?.replicas || 0;
  if (maxBefore === 0) return 0;
  const fraction = Math.round((size * allowed) / maxBefore) - size;
  return toAdd > 0 ? Math.min(fraction, left) : Math.max(fraction, left);
}

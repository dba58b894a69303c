import type { Pod } from '@tinkernetes/api';
import { isPodReady } from '@tinkernetes/apimachinery';

const phaseRank: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };
const deletionCost = 'controller.kubernetes.io/pod-deletion-cost';

const costOf = (pod: Pod): number => {
  const value = Number(pod.metadata.annotations?.[deletionCost] ?? 0);
  return Number.isInteger(value) ? value : 0;
};
const readySince = (pod: Pod): string =>
  pod.status?.conditions?.find((c) => c.type === 'Ready' && c.status === 'True')?.lastTransitionTime ?? '';
const restarts = (pod: Pod): number =>
  Math.max(0, ...(pod.status?.containerStatuses ?? []).map((s) => s.restartCount));
/** Ages count in powers of ten, so that Pods created together are told apart by chance, not by milliseconds. */
const ageRank = (time: string, now: number): number =>
  time ? Math.floor(Math.log10(Math.max(1, now - Date.parse(time)))) : Number.MAX_SAFE_INTEGER;

export interface RankingOptions {
  /** Related Pods per node: Pods on fuller nodes go first. */
  podsOnNode: ReadonlyMap<string, number>;
  now: number;
}

/**
 * Which Pods to delete first when a ReplicaSet shrinks: unassigned, then Pending, then not ready, lower deletion cost,
 * doubled up on a node, ready for a shorter time, restarted more often, younger.
 * Source: k8s.io/kubernetes/pkg/controller.ActivePodsWithRanks.
 */
function byDeletionPriority({ podsOnNode, now }: RankingOptions): (a: Pod, b: Pod) => number {
  const criteria: ReadonlyArray<(pod: Pod) => number> = [
    (pod) => (pod.spec.nodeName ? 1 : 0),
    (pod) => phaseRank[pod.status?.phase ?? 'Unknown'] ?? 1,
    (pod) => (isPodReady(pod) ? 1 : 0),
    costOf,
    (pod) => -(podsOnNode.get(pod.spec.nodeName ?? '') ?? 0),
    (pod) => (isPodReady(pod) ? ageRank(readySince(pod), now) : 0),
    (pod) => -restarts(pod),
    (pod) => ageRank(pod.metadata.creationTimestamp ?? '', now),
  ];
  return (a, b) => {
    for (const rank of criteria) {
      const difference = rank(a) - rank(b);
      if (difference !== 0) return difference;
    }
    return a.metadata.name.localeCompare(b.metadata.name);
  };
}

/** The `count` Pods that go first. */
export function podsToDelete(pods: readonly Pod[], count: number, options: RankingOptions): Pod[] {
  return [...pods].sort(byDeletionPriority(options)).slice(0, count);
}

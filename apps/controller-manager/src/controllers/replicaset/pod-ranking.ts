import type { Pod } from '@tinkernetes/api';
import { isPodReady, isRestartableInitContainer } from '@tinkernetes/apimachinery';

export interface RankingOptions {
  /** Related Pods per node: Pods on fuller nodes go first. */
  podsOnNode: ReadonlyMap<string, number>;
  now: number;
}

/** Negative: the first Pod goes before the second. */
type Comparison = (a: Pod, b: Pod) => number;

const phaseRank: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };
const deletionCost = 'controller.kubernetes.io/pod-deletion-cost';

/**
 * Which Pods to delete first when a ReplicaSet shrinks: unassigned, then Pending, then not ready, lower deletion cost,
 * doubled up on a node, ready for a shorter time, restarted more often, younger.
 * Source: k8s.io/kubernetes/pkg/controller.ActivePodsWithRanks.
 */
function byDeletionPriority({ podsOnNode, now }: RankingOptions): Comparison {
  const criteria: readonly Comparison[] = [
    lowest((pod) => (pod.spec.nodeName ? 1 : 0)),
    lowest((pod) => phaseRank[pod.status?.phase ?? 'Unknown'] ?? 1),
    lowest((pod) => (isPodReady(pod) ? 1 : 0)),
    lowest(costOf),
    lowest((pod) => -(podsOnNode.get(pod.spec.nodeName ?? '') ?? 0)),
    latest((pod) => readySince(pod), now),
    lowest((pod) => -restarts(pod)),
    lowest((pod) => -sidecarRestarts(pod)),
    latest(({ metadata }) => metadata.creationTimestamp, now),
    (a, b) => a.metadata.name.localeCompare(b.metadata.name),
  ];
  return (a, b) => {
    for (const compare of criteria) {
      const difference = compare(a, b);
      if (difference !== 0) return difference;
    }
    return 0;
  };
}

/** The `count` Pods that go first. */
export function podsToDelete(pods: readonly Pod[], count: number, options: RankingOptions): Pod[] {
  return [...pods].sort(byDeletionPriority(options)).slice(0, count);
}

/** How much longer a Pod has been ready than the youngest ready one; undefined: it is not ready itself. */
export function deletionAgeRatio(pod: Pod, pods: readonly Pod[], now: number): number | undefined {
  const ageOf = (candidate: Pod) => now - Date.parse(readySince(candidate) ?? '');
  const age = ageOf(pod);
  const youngest = Math.min(...pods.map(ageOf).filter((ms) => !Number.isNaN(ms)));
  return Number.isNaN(age) || youngest <= 0 ? undefined : age / youngest;
}

const lowest =
  (rank: (pod: Pod) => number): Comparison =>
  (a, b) =>
    rank(a) - rank(b);

/**
 * The later time first, none before any. Ages count in powers of two: of Pods that came together, chance (their uids)
 * takes some, and not always the youngest, which may all be in one zone.
 */
function latest(timeOf: (pod: Pod) => string | undefined, now: number): Comparison {
  const rank = (time: string) => {
    const nanoseconds = (now - Date.parse(time)) * 1e6;
    return nanoseconds > 0 ? Math.trunc(Math.log2(nanoseconds)) : -1;
  };
  return (a, b) => {
    const [left, right] = [timeOf(a), timeOf(b)];
    if (left === right) return 0;
    if (!left || !right) return left ? 1 : -1;
    return rank(left) - rank(right) || ((a.metadata.uid ?? '') < (b.metadata.uid ?? '') ? -1 : 1);
  };
}

function costOf({ metadata }: Pod): number {
  const value = Number(metadata.annotations?.[deletionCost] ?? 0);
  return Number.isInteger(value) ? value : 0;
}

const readySince = ({ status }: Pod): string | undefined =>
  status?.conditions?.find((c) => c.type === 'Ready' && c.status === 'True')?.lastTransitionTime;

const most = (counts: readonly number[]): number => Math.max(0, ...counts);

const restarts = ({ status }: Pod): number =>
  most((status?.containerStatuses ?? []).map((s) => s.restartCount));

function sidecarRestarts({ spec, status }: Pod): number {
  const sidecars = new Set(
    (spec.initContainers ?? []).filter(isRestartableInitContainer).map(({ name }) => name),
  );
  const statuses = status?.initContainerStatuses ?? [];
  return most(statuses.filter(({ name }) => sidecars.has(name)).map((s) => s.restartCount));
}

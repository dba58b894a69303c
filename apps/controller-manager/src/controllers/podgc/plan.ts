import type { Node, Pod, PodStatus } from '@tinkernetes/api';
import { findCondition, isPodTerminal, setCondition } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';

/** Why a Pod goes, as upstream's metric names it. */
export type Reason = 'terminated' | 'orphaned' | 'out-of-service' | 'unscheduled';

export interface Removal {
  pod: Pod;
  reason: Reason;
}

const outOfServiceTaint = 'node.kubernetes.io/out-of-service';

/** Finished Pods beyond the threshold, the evicted ones first, then the oldest; 0: none. */
export function surplusOf(pods: readonly Pod[], threshold: number): Removal[] {
  if (threshold === 0) return [];
  const ended = pods.filter(isPodTerminal);
  if (ended.length <= threshold) return [];
  const leastWantedFirst = [...ended].sort(
    (a, b) =>
      // Evicted Pods are made again by their owners: they would push out what has really run to its end.
      Number(isEvicted(b)) - Number(isEvicted(a)) ||
      (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? '') ||
      a.metadata.name.localeCompare(b.metadata.name),
  );
  return leastWantedFirst.slice(0, ended.length - threshold).map((pod) => ({ pod, reason: 'terminated' }));
}

const isEvicted = ({ status }: Pod): boolean => status?.phase === 'Failed' && status.reason === 'Evicted';

/** Pods that are being deleted and that no kubelet will ever end: never scheduled, or on a node declared out of service. */
export function stuckOf(pods: readonly Pod[], nodeOf: (name: string) => Node | undefined): Removal[] {
  return pods.flatMap((pod): Removal[] => {
    if (!pod.metadata.deletionTimestamp) return [];
    if (!pod.spec.nodeName) return [{ pod, reason: 'unscheduled' }];
    const node = nodeOf(pod.spec.nodeName);
    return node && isOutOfService(node) ? [{ pod, reason: 'out-of-service' }] : [];
  });
}

const isOutOfService = (node: Node): boolean =>
  findCondition(node.status?.conditions, 'Ready')?.status !== 'True' &&
  (node.spec.taints ?? []).some((taint) => taint.key === outOfServiceTaint);

/** Names of nodes that Pods are bound to and that do not exist. */
export const missingNodesOf = (
  pods: readonly Pod[],
  nodeOf: (name: string) => Node | undefined,
): ReadonlySet<string> =>
  new Set(pods.flatMap(({ spec: { nodeName } }) => (nodeName && !nodeOf(nodeName) ? [nodeName] : [])));

/** How long a node must be gone before its Pods are taken for lost. */
export const quarantineMs = 40_000;

/** Since when each missing node has been missing: one that is back starts anew the next time. */
export const missingSinceWhen = (
  before: ReadonlyMap<string, number>,
  missing: ReadonlySet<string>,
  now: number,
): Map<string, number> => new Map([...missing].map((name) => [name, before.get(name) ?? now]));

/** Nodes that have been missing for so long that they won't come back. */
export const lostNodesOf = (missingSince: ReadonlyMap<string, number>, now: number): string[] =>
  [...missingSince].filter(([, since]) => now - since >= quarantineMs).map(([name]) => name);

export const orphansOf = (pods: readonly Pod[], node: string): Removal[] =>
  pods.filter((pod) => pod.spec.nodeName === node).map((pod) => ({ pod, reason: 'orphaned' }));

/**
 * The status that a Pod has before it is removed, if it must change: one that has not ended counts as failed, and one
 * whose node is gone as disrupted. Source: podgc markFailedAndDeletePodWithCondition.
 */
export function lastStatusOf({ pod, reason }: Removal, now: number): PodStatus | undefined {
  if (isPodTerminal(pod)) return undefined;
  if (reason !== 'orphaned') return { phase: 'Failed' };
  const type = 'DisruptionTarget';
  const conditions = setCondition(pod.status?.conditions, {
    type,
    status: 'True',
    reason: 'DeletionByPodGC',
    message: 'PodGC: node no longer exists',
    lastTransitionTime: formatTime(now),
  });
  // The others stay as they are: this is for a strategic merge patch.
  return { phase: 'Failed', conditions: conditions.filter((condition) => condition.type === type) };
}

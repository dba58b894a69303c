import type { Node, Pod } from '@tinkernetes/api';
import { findCondition, isPodTerminal } from '@tinkernetes/apimachinery';

/** Why a Pod goes, as upstream's metric names it. */
export type Reason = 'terminated' | 'orphaned' | 'out-of-service' | 'unscheduled';

export interface Removal {
  pod: Pod;
  reason: Reason;
}

const outOfServiceTaint = 'node.kubernetes.io/out-of-service';

/** The oldest finished Pods beyond the threshold; 0: none. */
export function surplusOf(pods: readonly Pod[], threshold: number): Removal[] {
  if (threshold === 0) return [];
  const ended = pods.filter(isPodTerminal);
  if (ended.length <= threshold) return [];
  const oldestFirst = [...ended].sort(
    (a, b) =>
      (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? '') ||
      a.metadata.name.localeCompare(b.metadata.name),
  );
  return oldestFirst.slice(0, ended.length - threshold).map((pod) => ({ pod, reason: 'terminated' }));
}

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

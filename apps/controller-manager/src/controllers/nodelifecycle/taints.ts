import type { Node, Taint } from '@tinkernetes/api';
import { findCondition } from '@tinkernetes/apimachinery';

export const notReady = 'node.kubernetes.io/not-ready';
export const unreachable = 'node.kubernetes.io/unreachable';

/** Which condition status puts which NoSchedule taint on a node. */
const byCondition: ReadonlyArray<{ type: string; status: string; key: string }> = [
  { type: 'Ready', status: 'False', key: notReady },
  { type: 'Ready', status: 'Unknown', key: unreachable },
  { type: 'MemoryPressure', status: 'True', key: 'node.kubernetes.io/memory-pressure' },
  { type: 'DiskPressure', status: 'True', key: 'node.kubernetes.io/disk-pressure' },
  { type: 'PIDPressure', status: 'True', key: 'node.kubernetes.io/pid-pressure' },
  { type: 'NetworkUnavailable', status: 'True', key: 'node.kubernetes.io/network-unavailable' },
];
const unschedulable = 'node.kubernetes.io/unschedulable';
const owned: ReadonlySet<string> = new Set([...byCondition.map((c) => c.key), unschedulable]);

/**
 * The node's taints with the NoSchedule ones brought in line with its conditions; the same list when nothing changes.
 * Others' taints stay. Source: nodelifecycle doNoScheduleTaintingPass.
 */
export function withNoScheduleTaints(node: Node, now: string): readonly Taint[] {
  const current = node.spec.taints ?? [];
  const wanted = new Set(
    byCondition
      .filter(({ type, status }) => findCondition(node.status?.conditions, type)?.status === status)
      .map((c) => c.key),
  );
  if (node.spec.unschedulable) wanted.add(unschedulable);
  const isOwned = (t: Taint) => t.effect === 'NoSchedule' && owned.has(t.key);
  const kept = current.filter((t) => !isOwned(t) || wanted.has(t.key));
  const missing = [...wanted].filter((key) => !current.some((t) => isOwned(t) && t.key === key));
  if (missing.length === 0 && kept.length === current.length) return current;
  return [...kept, ...missing.map((key): Taint => ({ key, effect: 'NoSchedule', timeAdded: now }))];
}

/** Which NoExecute taint a node's Ready condition calls for. */
export function noExecuteKey(node: Node): string | undefined {
  const status = findCondition(node.status?.conditions, 'Ready')?.status;
  return status === 'False' ? notReady : status === 'Unknown' ? unreachable : undefined;
}

const isEviction = (t: Taint): boolean =>
  t.effect === 'NoExecute' && (t.key === notReady || t.key === unreachable);

export const hasNoExecuteTaint = (taints: readonly Taint[]): boolean => taints.some(isEviction);

/** The taints with at most this one of the two NoExecute taints; the same list when nothing changes. */
export function withNoExecuteTaint(
  taints: readonly Taint[],
  key: string | undefined,
  now: string,
): readonly Taint[] {
  const kept = taints.filter((t) => !isEviction(t) || t.key === key);
  const isThere = key === undefined || hasNoExecuteTaint(kept);
  if (isThere && kept.length === taints.length) return taints;
  return isThere || key === undefined ? kept : [...kept, { key, effect: 'NoExecute', timeAdded: now }];
}

import type { Pod } from '@tinkernetes/api';
import { podRequests } from '@tinkernetes/apimachinery';
import { uidOf } from '../pods/pod-facts';

/** What a Pod uses of the resource that runs out, by Pod UID. */
export type Usage = ReadonlyMap<string, number>;

/**
 * The Pods in the order in which they are evicted: those that use more than they asked for, then those of low priority,
 * then those that are furthest above their request. Nothing can be requested of pids and inodes.
 * Source: pkg/kubelet/eviction/helpers.go rankMemoryPressure, rankDiskPressureFunc, rankPIDPressure.
 */
export function rankForEviction(pods: readonly Pod[], resource: string, usage: Usage): Pod[] {
  const requestable = resource === 'memory' || resource === 'ephemeral-storage';
  const rows = pods.map((pod) => {
    const used = usage.get(uidOf(pod));
    const excess = (used ?? 0) - (requestable ? (podRequests(pod).get(resource)?.toNumber() ?? 0) : 0);
    // Of a Pod without numbers the worst is assumed.
    const exceeds = requestable && (used === undefined || excess > 0);
    return { pod, excess, exceeds, priority: pod.spec.priority ?? 0 };
  });
  rows.sort(
    (a, b) => Number(b.exceeds) - Number(a.exceeds) || a.priority - b.priority || b.excess - a.excess,
  );
  return rows.map(({ pod }) => pod);
}

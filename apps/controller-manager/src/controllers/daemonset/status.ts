import type { DaemonSetStatus } from '@tinkernetes/api';
import { isPodAvailable, isPodReady } from '@tinkernetes/apimachinery';
import { decideForNode } from './nodes';
import { isCurrent, podsByNode, type PlanInput } from './plan';

/** Source: k8s.io/kubernetes/pkg/controller/daemon updateDaemonSetStatus. */
export function calculateStatus(
  { set, nodes, pods, hash, now }: PlanInput,
  collisionCount: number,
): DaemonSetStatus {
  const onNode = podsByNode(pods);
  const counts = { desired: 0, current: 0, misscheduled: 0, ready: 0, available: 0, updated: 0 };
  for (const node of nodes) {
    const here = onNode.get(node.metadata.name) ?? [];
    const { shouldRun } = decideForNode(set, node);
    if (!shouldRun) {
      if (here.length > 0) counts.misscheduled++;
      continue;
    }
    counts.desired++;
    const [first] = here;
    if (!first) continue;
    counts.current++;
    if (isPodReady(first)) {
      counts.ready++;
      if (isPodAvailable(first, set.spec.minReadySeconds ?? 0, now)) counts.available++;
    }
    if (isCurrent(first, hash)) counts.updated++;
  }
  return {
    observedGeneration: set.metadata.generation,
    desiredNumberScheduled: counts.desired,
    currentNumberScheduled: counts.current,
    numberMisscheduled: counts.misscheduled,
    updatedNumberScheduled: counts.updated,
    numberReady: counts.ready,
    numberAvailable: counts.available,
    numberUnavailable: counts.desired - counts.available,
    ...(collisionCount > 0 ? { collisionCount } : {}),
    ...(set.status?.conditions ? { conditions: set.status.conditions } : {}),
  };
}

import type { Lease, Node, NodeCondition } from '@tinkernetes/api';
import { findCondition } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';

/** What was last seen of a node, and when by this process's clock: the node's own clock is not trusted. */
export interface Heartbeat {
  readyHeartbeat: string | undefined;
  renewTime: string | undefined;
  seenAtMs: number;
}

/** The heartbeat record after a look at node and lease: a change of either counts as a sign of life. */
export function observe(
  previous: Heartbeat | undefined,
  { node, lease, now }: { node: Node; lease: Lease | undefined; now: number },
): Heartbeat {
  const readyHeartbeat = findCondition(node.status?.conditions, 'Ready')?.lastHeartbeatTime;
  const renewTime = lease?.spec?.renewTime;
  if (previous && previous.readyHeartbeat === readyHeartbeat && previous.renewTime === renewTime)
    return previous;
  return { readyHeartbeat, renewTime, seenAtMs: now };
}

const watchedTypes = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'] as const;

/** The conditions of a node that has been silent too long: all become Unknown; the same list when they are already. */
export function silentConditions(node: Node, now: number): readonly NodeCondition[] {
  const conditions = node.status?.conditions ?? [];
  const time = formatTime(now);
  let changed = false;
  const next = watchedTypes.reduce<NodeCondition[]>(
    (list, type) => {
      const current = findCondition(list, type);
      if (current?.status === 'Unknown') return list;
      changed = true;
      const unknown: NodeCondition = current
        ? {
            ...current,
            status: 'Unknown',
            reason: 'NodeStatusUnknown',
            message: 'Kubelet stopped posting node status.',
            lastTransitionTime: time,
          }
        : {
            type,
            status: 'Unknown',
            reason: 'NodeStatusNeverUpdated',
            message: 'Kubelet never posted node status.',
            lastHeartbeatTime: node.metadata.creationTimestamp,
            lastTransitionTime: time,
          };
      return [...list.filter((c) => c.type !== type), unknown];
    },
    [...conditions],
  );
  return changed ? next : conditions;
}

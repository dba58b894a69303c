import {
  CSIDrivers,
  CSINodes,
  CSIStorageCapacities,
  DeviceClasses,
  Nodes,
  PersistentVolumeClaims,
  PersistentVolumes,
  Pods,
  ResourceClaims,
  ResourceSlices,
  StorageClasses,
  VolumeAttachments,
  type KubeObject,
  type Node,
  type Pod,
  type ResourceDescriptor,
} from '@tinkernetes/api';
import { isPodTerminal } from '@tinkernetes/apimachinery';
import type { SharedInformerFactory } from '@tinkernetes/informers';
import { podInfoOf, uidOf } from '../cache/pod-info';
import type { SchedulerCache } from '../cache/scheduler-cache';
import type { ClusterEvent, EventAction, EventResource } from '../framework/cluster-event';
import type { Nominator } from '../framework/types';
import type { SchedulingQueue } from '../queue/scheduling-queue';

export interface EventHandlerDeps {
  informers: SharedInformerFactory;
  cache: SchedulerCache;
  queue: SchedulingQueue;
  nominator: Nominator;
  /** Whether a Pod is ours to schedule, by its schedulerName. */
  isOurs(pod: Pod): boolean;
}

const isAssigned = (pod: Pod): boolean => Boolean(pod.spec?.nodeName);
const differs = (a: unknown, b: unknown): boolean => JSON.stringify(a) !== JSON.stringify(b);

/** Feeds the cache and the queue from the API's changes. */
export function addEventHandlers({ informers, cache, queue, nominator, isOurs }: EventHandlerDeps): void {
  const addPod = (pod: Pod) => {
    if (isPodTerminal(pod)) return;
    if (isAssigned(pod)) {
      cache.putPod(pod);
      queue.moveAllOn({ resource: 'AssignedPod', action: 'Add', after: pod });
    } else if (isOurs(pod)) {
      if (pod.status?.nominatedNodeName) nominator.nominate(pod, pod.status.nominatedNodeName);
      queue.add(pod);
    }
  };
  const removePod = (pod: Pod) => {
    queue.delete(pod);
    nominator.clear(pod);
    const wasCounted = isAssigned(pod) || cache.isAssumed(pod);
    cache.removePod(pod);
    if (wasCounted) queue.moveAllOn({ resource: 'AssignedPod', action: 'Delete', before: pod });
  };
  const updatePod = (before: Pod, after: Pod) => {
    if (uidOf(before) !== uidOf(after)) {
      removePod(before);
      addPod(after);
    } else if (isPodTerminal(after)) {
      if (!isPodTerminal(before)) removePod(after);
    } else if (!isAssigned(after)) {
      if (isOurs(after) && !cache.isAssumed(after))
        queue.update(before, after, podEvents('UnscheduledPod', before, after));
    } else if (!isAssigned(before)) {
      // Bound, by us or by somebody else.
      queue.delete(after);
      nominator.clear(after);
      addPod(after);
    } else {
      cache.putPod(after);
      for (const event of podEvents('AssignedPod', before, after)) queue.moveAllOn(event);
    }
  };
  informers.for(Pods).addEventHandler({ added: addPod, updated: updatePod, deleted: removePod });
  const watched = [
    [PersistentVolumeClaims, 'PersistentVolumeClaim'],
    [PersistentVolumes, 'PersistentVolume'],
    [StorageClasses, 'StorageClass'],
    [CSINodes, 'CSINode'],
    [CSIDrivers, 'CSIDriver'],
    [CSIStorageCapacities, 'CSIStorageCapacity'],
    [VolumeAttachments, 'VolumeAttachment'],
    [ResourceClaims, 'ResourceClaim'],
    [ResourceSlices, 'ResourceSlice'],
    [DeviceClasses, 'DeviceClass'],
  ] as const;
  for (const [descriptor, resource] of watched) {
    informers.for(descriptor as ResourceDescriptor<KubeObject>).addEventHandler({
      added: (after) => queue.moveAllOn({ resource, action: 'Add', after }),
      updated: (before, after) => queue.moveAllOn({ resource, action: 'Update', before, after }),
      deleted: (before) => queue.moveAllOn({ resource, action: 'Delete', before }),
    });
  }
  informers.for(Nodes).addEventHandler({
    added(node) {
      cache.putNode(node);
      queue.moveAllOn({ resource: 'Node', action: 'Add', after: node });
    },
    updated(before, after) {
      cache.putNode(after);
      for (const event of nodeEvents(before, after)) queue.moveAllOn(event);
    },
    deleted(node) {
      cache.removeNode(node.metadata.name);
      queue.moveAllOn({ resource: 'Node', action: 'Delete', before: node });
    },
  });
}

/** A heartbeat changes nothing that Pods wait for, and is no event. */
function nodeEvents(before: Node, after: Node): ClusterEvent[] {
  const conditions = (node: Node) =>
    (node.status?.conditions ?? []).map(({ type, status }) => [type, status]);
  const actions: EventAction[] = [];
  if (differs(before.status?.allocatable, after.status?.allocatable)) actions.push('UpdateNodeAllocatable');
  if (differs(before.metadata.labels, after.metadata.labels)) actions.push('UpdateNodeLabel');
  if (
    differs(before.spec?.taints, after.spec?.taints) ||
    before.spec?.unschedulable !== after.spec?.unschedulable
  )
    actions.push('UpdateNodeTaint');
  if (differs(conditions(before), conditions(after))) actions.push('UpdateNodeCondition');
  return actions.map((action) => ({ resource: 'Node', action, before, after }));
}

function podEvents(resource: EventResource, before: Pod, after: Pod): ClusterEvent[] {
  const actions: EventAction[] = [];
  if (differs(before.metadata.labels, after.metadata.labels)) actions.push('UpdatePodLabel');
  if (differs(before.spec?.tolerations, after.spec?.tolerations)) actions.push('UpdatePodToleration');
  if (before.spec?.schedulingGates?.length && !after.spec?.schedulingGates?.length)
    actions.push('UpdatePodSchedulingGatesEliminated');
  if (differs(before.status?.resourceClaimStatuses, after.status?.resourceClaimStatuses))
    actions.push('UpdatePodGeneratedResourceClaim');
  if (asksForLess(before, after)) actions.push('UpdatePodScaleDown');
  return actions.map((action) => ({ resource, action, before, after }));
}

function asksForLess(before: Pod, after: Pod): boolean {
  const [was, is] = [podInfoOf(before).requests, podInfoOf(after).requests];
  return is.milliCpu < was.milliCpu || is.memory < was.memory || is.ephemeralStorage < was.ephemeralStorage;
}

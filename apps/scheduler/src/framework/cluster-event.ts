import type { KubeObject, Node, Pod } from '@tinkernetes/api';

/** What changed in the cluster, as finely as Pods may wait for it. Source: k8s.io/kube-scheduler/framework. */
export type EventResource =
  | 'Node'
  | 'AssignedPod'
  | 'UnscheduledPod'
  | 'PersistentVolume'
  | 'PersistentVolumeClaim'
  | 'StorageClass'
  | 'CSINode'
  | 'CSIDriver'
  | 'CSIStorageCapacity'
  | 'VolumeAttachment'
  | 'ResourceClaim'
  | 'ResourceSlice'
  | 'DeviceClass'
  | 'Namespace'
  | '*';
export type EventAction =
  | 'Add'
  | 'Delete'
  | 'Update'
  | 'UpdateNodeAllocatable'
  | 'UpdateNodeLabel'
  | 'UpdateNodeTaint'
  | 'UpdateNodeCondition'
  | 'UpdatePodLabel'
  | 'UpdatePodScaleDown'
  | 'UpdatePodToleration'
  | 'UpdatePodGeneratedResourceClaim'
  | 'UpdatePodSchedulingGatesEliminated';

export interface ClusterEvent {
  readonly resource: EventResource;
  readonly action: EventAction;
  readonly before?: KubeObject;
  readonly after?: KubeObject;
}

/** An event after which a Pod that the plugin refused may fit; `hint` looks closer, for this very Pod. */
export interface EventHint {
  readonly resource: EventResource;
  readonly actions: readonly EventAction[];
  hint?(pod: Pod, event: ClusterEvent): boolean;
}

export const matchesHint = (hints: readonly EventHint[], pod: Pod, event: ClusterEvent): boolean =>
  event.resource === '*' ||
  hints.some(
    ({ resource, actions, hint }) =>
      resource === event.resource && actions.includes(event.action) && (hint?.(pod, event) ?? true),
  );

/** The Node that an event is about, as it is now. */
export const nodeOf = (event: ClusterEvent): Node | undefined => event.after as Node | undefined;

/** `NodeAdd`, as upstream's metrics label it. */
export const labelOf = ({ resource, action }: ClusterEvent): string =>
  action.startsWith('Update') && action !== 'Update'
    ? action.slice('Update'.length) + 'Update'
    : resource + action;

import { createHash } from 'node:crypto';
import type { CSIDriver, CSIVolumeSource, PersistentVolume, Pod } from '@tinkernetes/api';
import type { VolumeCapability } from '@tinkernetes/csi';
import { uidOf } from '../../pods/pod-facts';
import type { CsiDriverConnection } from './csi-drivers';

const lifecycle = 'csi.storage.k8s.io/';

/** As Node statuses name a volume. */
export const uniqueNameOf = (driver: string, handle: string): string =>
  `kubernetes.io/csi/${driver}^${handle}`;

/** Of the VolumeAttachment that has the volume attached to the node. */
export const attachmentName = (driver: string, handle: string, nodeName: string): string =>
  `csi-${createHash('sha256').update(`${handle}${driver}${nodeName}`).digest('hex')}`;

const accessModes = {
  ReadWriteOnce: 'SINGLE_NODE_WRITER',
  ReadOnlyMany: 'MULTI_NODE_READER_ONLY',
  ReadWriteMany: 'MULTI_NODE_MULTI_WRITER',
  ReadWriteOncePod: 'SINGLE_NODE_WRITER',
} as const;

export function capabilityOf(
  { spec }: PersistentVolume,
  fsType = '',
  volumeMountGroup = '',
): VolumeCapability {
  const [mode = 'ReadWriteOnce'] = spec.accessModes ?? [];
  return {
    ...(spec.volumeMode === 'Block'
      ? { block: {} }
      : { mount: { fsType, mountFlags: spec.mountOptions ?? [], volumeMountGroup } }),
    accessMode: { mode: accessModes[mode] },
  };
}

/** Whether a volume may be given to a Pod's fsGroup. Source: CSIDriver.spec.fsGroupPolicy. */
export function groupOwns({ spec }: PersistentVolume, object: CSIDriver | undefined): boolean {
  switch (object?.spec.fsGroupPolicy) {
    case 'None':
      return false;
    case 'File':
      return true;
    default:
      return Boolean(spec.csi?.fsType) && (spec.accessModes ?? []).includes('ReadWriteOnce');
  }
}

/** The same of a volume that a Pod itself describes: it is nobody else's. */
export function groupOwnsInline({ fsType }: CSIVolumeSource, object: CSIDriver | undefined): boolean {
  const { fsGroupPolicy } = object?.spec ?? {};
  return fsGroupPolicy === 'File' || (fsGroupPolicy !== 'None' && Boolean(fsType));
}

/** The Pod's group, where the driver itself gives volumes to it. Source: VOLUME_MOUNT_GROUP. */
export function groupForDriver(pod: Pod, { capabilities }: CsiDriverConnection): string | undefined {
  const group = pod.spec.securityContext?.fsGroup;
  return group !== undefined && capabilities.has('VOLUME_MOUNT_GROUP') ? String(group) : undefined;
}

/** What a driver that asks for it is told of the Pod. */
export function podInfo(
  pod: Pod,
  object: CSIDriver | undefined,
  isEphemeral: boolean,
): Record<string, string> {
  if (!object?.spec.podInfoOnMount) return isEphemeral ? { [`${lifecycle}ephemeral`]: 'true' } : {};
  return {
    [`${lifecycle}pod.name`]: pod.metadata.name,
    [`${lifecycle}pod.namespace`]: pod.metadata.namespace ?? '',
    [`${lifecycle}pod.uid`]: uidOf(pod),
    [`${lifecycle}serviceAccount.name`]: pod.spec.serviceAccountName ?? '',
    [`${lifecycle}ephemeral`]: String(isEphemeral),
  };
}

/** What the driver knows a volume by that a Pod describes itself. Source: pkg/volume/csi makeVolumeHandle. */
export const inlineHandle = (pod: Pod, volume: string): string =>
  `csi-${createHash('sha256')
    .update(`${volume}${pod.metadata.name}${pod.metadata.namespace ?? ''}${uidOf(pod)}`)
    .digest('hex')}`;

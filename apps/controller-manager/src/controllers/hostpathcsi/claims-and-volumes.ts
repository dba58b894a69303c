import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '@tinkernetes/api';
import { driverName } from './plugin';
import { provisionerFinalizer } from './volume-object';

const provisionerAnnotation = 'volume.kubernetes.io/storage-provisioner';
const provisionedBy = 'pv.kubernetes.io/provisioned-by';
/** The node that the scheduler chose for a claim whose class waits for its first Pod. */
export const selectedNode = 'volume.kubernetes.io/selected-node';

/** A claim without a volume that the volume binder has handed to this driver. */
export const isOurs = ({ metadata, spec }: PersistentVolumeClaim): boolean =>
  !spec.volumeName &&
  !metadata.deletionTimestamp &&
  metadata.annotations?.[provisionerAnnotation] === driverName;

/**
 * Whether a claim of ours may get a volume now: one that waits for its first Pod needs a node, also after a node that
 * was no good was taken back. Source: sig-storage-lib-external-provisioner shouldProvision.
 */
export const mayProvision = (
  { metadata }: PersistentVolumeClaim,
  { provisioner, volumeBindingMode }: StorageClass,
): boolean =>
  provisioner === driverName &&
  (volumeBindingMode !== 'WaitForFirstConsumer' || Boolean(metadata.annotations?.[selectedNode]));

const isProvisioned = ({ metadata }: PersistentVolume): boolean =>
  metadata.annotations?.[provisionedBy] === driverName;

/** Its storage is to be deleted. Source: sig-storage-lib-external-provisioner shouldDelete. */
export const isReleased = (volume: PersistentVolume): boolean =>
  isProvisioned(volume) &&
  volume.status?.phase === 'Released' &&
  volume.spec.persistentVolumeReclaimPolicy === 'Delete' &&
  // Without the finalizer the storage is gone already, and only the object is left.
  (!volume.metadata.deletionTimestamp || isHeld(volume));

/** Deleted by hand while nothing was bound to it, to be kept in storage. */
export const isForgotten = (volume: PersistentVolume): boolean =>
  isProvisioned(volume) &&
  isHeld(volume) &&
  volume.metadata.deletionTimestamp !== undefined &&
  volume.status?.phase !== 'Bound' &&
  volume.spec.persistentVolumeReclaimPolicy !== 'Delete';

const isHeld = ({ metadata }: PersistentVolume): boolean =>
  metadata.finalizers?.includes(provisionerFinalizer) ?? false;

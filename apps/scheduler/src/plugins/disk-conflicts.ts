import type { Pod, Volume } from '@tinkernetes/api';

interface Disk {
  /** Disks of one kind and identity are the same disk. */
  ids: readonly string[];
  /** Several may read it. */
  readOnly: boolean;
}

/** Disks that a node can mount for one writer only. Source: volumerestrictions.isVolumeConflict. */
function diskOf({ gcePersistentDisk, awsElasticBlockStore, iscsi, rbd }: Volume): Disk | undefined {
  if (gcePersistentDisk)
    return { ids: [`gce/${gcePersistentDisk.pdName}`], readOnly: gcePersistentDisk.readOnly ?? false };
  if (awsElasticBlockStore) return { ids: [`aws/${awsElasticBlockStore.volumeID}`], readOnly: false };
  if (iscsi) return { ids: [`iscsi/${iscsi.iqn}`], readOnly: iscsi.readOnly ?? false };
  if (!rbd) return undefined;
  // One monitor in common makes two images of one name the same.
  const ids = rbd.monitors.map((monitor) => `rbd/${monitor}/${rbd.pool ?? 'rbd'}/${rbd.image}`);
  return { ids, readOnly: rbd.readOnly ?? false };
}

const disksOf = ({ spec }: Pod): Disk[] => (spec?.volumes ?? []).flatMap((volume) => diskOf(volume) ?? []);

export const usesDisks = ({ spec }: Pod): boolean =>
  spec?.volumes?.some((volume) => diskOf(volume) !== undefined) ?? false;

/** Whether two Pods can't be on one node because of a disk. */
export const shareDisk = (a: Pod, b: Pod): boolean =>
  disksOf(a).some((disk) =>
    disksOf(b).some(
      (other) => other.ids.some((id) => disk.ids.includes(id)) && !(disk.readOnly && other.readOnly),
    ),
  );

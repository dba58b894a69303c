import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '@tinkernetes/api';
import { nodeSelectorMatches, Quantity, selectorOf } from '@tinkernetes/apimachinery';
import type { Node } from '@tinkernetes/api';

/** A volume of a Pod that is a claim. */
export interface ClaimUse {
  name: string;
  /** The claim is made for this Pod's generic ephemeral volume. */
  isEphemeral: boolean;
}

export function claimsOf(pod: Pod): ClaimUse[] {
  return (pod.spec?.volumes ?? []).flatMap((volume): ClaimUse[] => {
    if (volume.persistentVolumeClaim)
      return [{ name: volume.persistentVolumeClaim.claimName, isEphemeral: false }];
    if (volume.ephemeral) return [{ name: `${pod.metadata.name}-${volume.name}`, isEphemeral: true }];
    return [];
  });
}

export const isBound = ({ metadata, spec }: PersistentVolumeClaim): boolean =>
  Boolean(spec?.volumeName) && metadata.annotations?.['pv.kubernetes.io/bind-completed'] !== undefined;

export const classOf = (object: PersistentVolume | PersistentVolumeClaim): string =>
  object.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ??
  object.spec?.storageClassName ??
  '';

export const fitsNode = ({ spec }: PersistentVolume, node: Node): boolean =>
  !spec?.nodeAffinity?.required || nodeSelectorMatches(spec.nodeAffinity.required, node);

/** Whether the volume is free for the claim and offers what it asks for. */
export function satisfies(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const [has, wants] = [volume.spec, claim.spec];
  if (!has || !wants || volume.metadata.deletionTimestamp) return false;
  const { claimRef } = has;
  const isForClaim =
    claimRef?.name === claim.metadata.name &&
    claimRef.namespace === claim.metadata.namespace &&
    (!claimRef.uid || claimRef.uid === claim.metadata.uid);
  if (claimRef && !isForClaim) return false;
  if (!claimRef && volume.status?.phase !== undefined && volume.status.phase !== 'Available') return false;
  if (wants.volumeName && wants.volumeName !== volume.metadata.name) return false;
  if (classOf(volume) !== classOf(claim)) return false;
  if ((has.volumeMode ?? 'Filesystem') !== (wants.volumeMode ?? 'Filesystem')) return false;
  if (!(wants.accessModes ?? []).every((mode) => has.accessModes?.includes(mode))) return false;
  if (wants.selector && !selectorOf(wants.selector).matches(volume.metadata.labels ?? {})) return false;
  return capacityOf(volume).compare(Quantity.parse(wants.resources?.requests?.storage ?? '0')) >= 0;
}

export const capacityOf = ({ spec }: PersistentVolume): Quantity =>
  Quantity.parse(spec?.capacity?.storage ?? '0');

/** No `allowedTopologies` allow every node. */
export function mayProvisionOn({ provisioner, allowedTopologies = [] }: StorageClass, node: Node): boolean {
  if (provisioner === 'kubernetes.io/no-provisioner') return false;
  const labels = node.metadata.labels ?? {};
  return (
    allowedTopologies.length === 0 ||
    allowedTopologies.some(({ matchLabelExpressions = [] }) =>
      matchLabelExpressions.every(({ key, values }) => values.includes(labels[key] ?? '')),
    )
  );
}

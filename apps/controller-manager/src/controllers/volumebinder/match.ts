import type { Node, PersistentVolume, PersistentVolumeClaim, StorageClass } from '@tinkernetes/api';
import { nodeSelectorMatches, Quantity, selectorOf } from '@tinkernetes/apimachinery';

const betaClass = 'volume.beta.kubernetes.io/storage-class';

export const classNameOf = ({ metadata, spec }: PersistentVolume | PersistentVolumeClaim): string =>
  metadata.annotations?.[betaClass] ?? spec.storageClassName ?? '';

/** The volume refers to the claim, by uid where it has one. */
export function isReservedFor(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const { claimRef } = volume.spec;
  return (
    claimRef?.namespace === claim.metadata.namespace &&
    claimRef?.name === claim.metadata.name &&
    (!claimRef?.uid || claimRef.uid === claim.metadata.uid)
  );
}

const sizeOf = (text: string | number | undefined): Quantity => Quantity.tryParse(text) ?? Quantity.zero;
const capacityOf = (volume: PersistentVolume): Quantity => sizeOf(volume.spec.capacity?.['storage']);
const requestOf = (claim: PersistentVolumeClaim): Quantity =>
  sizeOf(claim.spec.resources?.requests?.['storage']);

const modeOf = ({ spec }: PersistentVolume | PersistentVolumeClaim): string =>
  spec.volumeMode ?? 'Filesystem';
const offersModes = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  (claim.spec.accessModes ?? []).every((mode) => volume.spec.accessModes?.includes(mode));

/** Why a volume that a claim names is none for it. Source: pkg/controller/volume/persistentvolume checkVolumeSatisfyClaim. */
export function mismatchOf(volume: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  if (volume.metadata.deletionTimestamp) return `the volume is marked for deletion "${volume.metadata.name}"`;
  if (capacityOf(volume).compare(requestOf(claim)) < 0) return 'requested PV is too small';
  if (classNameOf(volume) !== classNameOf(claim)) return 'storageClassName does not match';
  if (modeOf(volume) !== modeOf(claim)) return 'incompatible volumeMode';
  return offersModes(volume, claim) ? undefined : 'incompatible accessMode';
}

/** Whether the volume has what the claim asks for, whoever it may belong to. */
export function satisfies(volume: PersistentVolume, claim: PersistentVolumeClaim, node?: Node): boolean {
  const affinity = volume.spec.nodeAffinity?.required;
  return (
    classNameOf(volume) === classNameOf(claim) &&
    modeOf(volume) === modeOf(claim) &&
    offersModes(volume, claim) &&
    capacityOf(volume).compare(requestOf(claim)) >= 0 &&
    (!claim.spec.selector || selectorOf(claim.spec.selector).matches(volume.metadata.labels)) &&
    (!node || !affinity || nodeSelectorMatches(affinity, node))
  );
}

/**
 * The volume for a claim: one reserved for it, else the smallest free one that satisfies it.
 * Source: k8s.io/component-helpers/storage/volume.FindMatchingVolume.
 */
export function findVolume(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  node?: Node,
): PersistentVolume | undefined {
  const fitting = volumes.filter((v) => !v.metadata.deletionTimestamp && satisfies(v, claim, node));
  const reserved = fitting.find((v) => v.spec.claimRef && isReservedFor(v, claim));
  if (reserved) return reserved;
  const free = fitting.filter((v) => !v.spec.claimRef && v.status?.phase === 'Available');
  return free.sort(
    (a, b) => capacityOf(a).compare(capacityOf(b)) || a.metadata.name.localeCompare(b.metadata.name),
  )[0];
}

export const waitsForConsumer = (
  storageClass: StorageClass | undefined,
  claim: PersistentVolumeClaim,
): boolean =>
  storageClass?.volumeBindingMode === 'WaitForFirstConsumer' &&
  !claim.metadata.annotations?.['volume.kubernetes.io/selected-node'];

import type { Node, PersistentVolume, PersistentVolumeClaim, StorageClass } from '@tinkernetes/api';
import { nodeSelectorMatches, Quantity, selectorOf } from '@tinkernetes/apimachinery';

const betaClass = 'volume.beta.kubernetes.io/storage-class';

export const classNameOf = ({ metadata, spec }: PersistentVolume | PersistentVolumeClaim): string =>
  metadata.annotations?.[betaClass] ?? spec.storageClassName ?? '';

/** Whether somebody has said which class the claim has, be it none. */
export const namesClass = ({ metadata, spec }: PersistentVolumeClaim): boolean =>
  metadata.annotations?.[betaClass] !== undefined || spec.storageClassName !== undefined;

/** Of several default classes the newest, then the first by name. Source: pkg/volume/util.GetDefaultClass. */
export function defaultClass(classes: readonly StorageClass[]): StorageClass | undefined {
  const isDefault = ({ metadata: { annotations } }: StorageClass): boolean =>
    annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true' ||
    annotations?.['storageclass.beta.kubernetes.io/is-default-class'] === 'true';
  const madeAt = ({ metadata }: StorageClass): number => Date.parse(metadata.creationTimestamp ?? '');
  return classes
    .filter(isDefault)
    .sort((a, b) => madeAt(b) - madeAt(a) || (a.metadata.name < b.metadata.name ? -1 : 1))[0];
}

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
const attributesOf = ({ spec }: PersistentVolume | PersistentVolumeClaim): string =>
  spec.volumeAttributesClassName ?? '';
const offersModes = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  (claim.spec.accessModes ?? []).every((mode) => volume.spec.accessModes?.includes(mode));

/** Why a volume that a claim names is none for it. Source: pkg/controller/volume/persistentvolume checkVolumeSatisfyClaim. */
export function mismatchOf(volume: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  if (volume.metadata.deletionTimestamp) return `the volume is marked for deletion "${volume.metadata.name}"`;
  if (capacityOf(volume).compare(requestOf(claim)) < 0) return 'requested PV is too small';
  if (classNameOf(volume) !== classNameOf(claim)) return 'storageClassName does not match';
  if (attributesOf(volume) !== attributesOf(claim)) return 'volumeAttributesClassName does not match';
  if (modeOf(volume) !== modeOf(claim)) return 'incompatible volumeMode';
  return offersModes(volume, claim) ? undefined : 'incompatible accessMode';
}

interface MatchOptions {
  /** The node that the volume has to be reachable from. */
  node?: Node;
  /** Leaves free volumes to the scheduler. */
  onlyReserved?: boolean;
}

/**
 * The volume for a claim: one that is large enough and reserved for it, else the free one that offers least beyond what
 * it asks for: modes, then size. Source: k8s.io/component-helpers/storage/volume.FindMatchingVolume and
 * pkg/controller/volume/persistentvolume/index.go.
 */
export function findVolume(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  { node, onlyReserved = false }: MatchOptions = {},
): PersistentVolume | undefined {
  const fitting = volumes.filter((volume) => !volume.metadata.deletionTimestamp && fits(volume, claim));
  const reserved = fitting.find((volume) => isReservedFor(volume, claim));
  if (reserved) return isReachable(reserved, node) ? reserved : undefined;
  if (onlyReserved) return undefined;
  const modesOf = ({ spec }: PersistentVolume): number => spec.accessModes?.length ?? 0;
  return fitting
    .filter((volume) => isFreeFor(volume, claim) && isReachable(volume, node))
    .sort(
      (a, b) =>
        modesOf(a) - modesOf(b) ||
        capacityOf(a).compare(capacityOf(b)) ||
        a.metadata.name.localeCompare(b.metadata.name),
    )[0];
}

const fits = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  modeOf(volume) === modeOf(claim) &&
  offersModes(volume, claim) &&
  capacityOf(volume).compare(requestOf(claim)) >= 0;

const isFreeFor = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  !volume.spec.claimRef &&
  volume.status?.phase === 'Available' &&
  classNameOf(volume) === classNameOf(claim) &&
  attributesOf(volume) === attributesOf(claim) &&
  (!claim.spec.selector || selectorOf(claim.spec.selector).matches(volume.metadata.labels));

function isReachable({ spec }: PersistentVolume, node: Node | undefined): boolean {
  const affinity = spec.nodeAffinity?.required;
  return !node || !affinity || nodeSelectorMatches(affinity, node);
}

export const waitsForConsumer = (
  storageClass: StorageClass | undefined,
  claim: PersistentVolumeClaim,
): boolean =>
  storageClass?.volumeBindingMode === 'WaitForFirstConsumer' &&
  !claim.metadata.annotations?.['volume.kubernetes.io/selected-node'];

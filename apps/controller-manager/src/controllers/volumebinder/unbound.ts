import type { PersistentVolume } from '@tinkernetes/api';
import { boundByController } from './annotations';

/**
 * A volume without the claim that has another one: free again where the controller had chosen it, still reserved for the
 * claim's name where somebody else had. Source: pkg/controller/volume/persistentvolume unbindVolume.
 */
export function withoutClaim(volume: PersistentVolume): PersistentVolume {
  const { [boundByController]: wasOurChoice, ...annotations } = volume.metadata.annotations ?? {};
  const { claimRef, ...spec } = volume.spec;
  if (wasOurChoice !== undefined) return { ...volume, metadata: { ...volume.metadata, annotations }, spec };
  const { uid: _uid, resourceVersion: _version, ...reservation } = claimRef ?? {};
  return { ...volume, spec: { ...spec, claimRef: reservation } };
}

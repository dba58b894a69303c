import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '@tinkernetes/api';

/** StorageClasses with this provisioner get volumes that are directories of the node, made when first mounted. */
export const hostPathProvisioner = 'hostpath.tinkernetes.dev';
export const provisionedBy = 'pv.kubernetes.io/provisioned-by';
const selectedNode = 'volume.kubernetes.io/selected-node';

/** The volume for a claim, named after it as all provisioners do; bound to the node that the scheduler chose, if any. */
export function provisionVolume(claim: PersistentVolumeClaim, storageClass: StorageClass): PersistentVolume {
  const { namespace, name, uid, annotations } = claim.metadata;
  const node = annotations?.[selectedNode];
  return {
    metadata: { name: `pvc-${uid}`, annotations: { [provisionedBy]: hostPathProvisioner } },
    spec: {
      capacity: { storage: claim.spec.resources?.requests?.['storage'] ?? '0' },
      accessModes: claim.spec.accessModes,
      volumeMode: claim.spec.volumeMode,
      storageClassName: storageClass.metadata.name,
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
      ...(storageClass.mountOptions ? { mountOptions: storageClass.mountOptions } : {}),
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid },
      hostPath: {
        path: `/var/lib/tinkernetes/volumes/${namespace}-${name}-${uid}`,
        type: 'DirectoryOrCreate',
      },
      ...(node
        ? {
            nodeAffinity: {
              required: {
                nodeSelectorTerms: [
                  { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] },
                ],
              },
            },
          }
        : {}),
    },
  };
}

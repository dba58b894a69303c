import type { KubeObject } from '@tinkernetes/api';
import type { AdmissionPlugin } from '../contracts';

const finalizers: Readonly<Record<string, string>> = {
  persistentvolumeclaims: 'kubernetes.io/pvc-protection',
  persistentvolumes: 'kubernetes.io/pv-protection',
  volumeattributesclasses: 'kubernetes.io/vac-protection',
};

/** Volumes and claims that are in use are not deleted under their users. */
export const storageObjectInUseProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  handles: (a) =>
    a.operation === 'CREATE' &&
    a.subresource === '' &&
    Object.hasOwn(finalizers, a.resource) &&
    a.group === (a.resource === 'volumeattributesclasses' ? 'storage.k8s.io' : ''),
  mutate: ({ object, resource }) => {
    const finalizer = finalizers[resource];
    if (!object || !finalizer || object.metadata.finalizers?.includes(finalizer)) return object;
    const { metadata } = object;
    return {
      ...object,
      metadata: { ...metadata, finalizers: [...(metadata.finalizers ?? []), finalizer] },
    } as KubeObject;
  },
};

import type { KubeObject } from '@tinkernetes/api';
import type { AdmissionPlugin } from '../contracts';
import { concerns } from './answers';

const finalizers: Readonly<Record<string, string>> = {
  persistentvolumeclaims: 'kubernetes.io/pvc-protection',
  persistentvolumes: 'kubernetes.io/pv-protection',
};

/** Volumes and claims that are in use are not deleted under their users. */
export const storageObjectInUseProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  handles: (a) =>
    a.operation === 'CREATE' && a.resource in finalizers && concerns(a, { resource: a.resource }),
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

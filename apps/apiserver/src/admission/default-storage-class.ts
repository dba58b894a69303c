import { StorageClasses } from '@tinkernetes/api';
import type { KubeObject, PersistentVolumeClaim, StorageClass } from '@tinkernetes/api';
import type { AdmissionPlugin, StoreRegistry } from '../contracts';
import { concerns } from './answers';

const annotation = 'storageclass.kubernetes.io/is-default-class';
const betaClass = 'volume.beta.kubernetes.io/storage-class';

/** Claims that name no class get the default one: the newest of them where there are several. */
export function defaultStorageClass(stores: StoreRegistry): AdmissionPlugin {
  return {
    name: 'DefaultStorageClass',
    handles: (a) => a.operation === 'CREATE' && concerns(a, { resource: 'persistentvolumeclaims' }),
    mutate: ({ object }) => {
      const claim = object as PersistentVolumeClaim;
      const named =
        claim.spec?.storageClassName !== undefined || claim.metadata.annotations?.[betaClass] !== undefined;
      const found = named ? undefined : newestDefault(stores.for(StorageClasses).list());
      if (!found) return claim;
      return { ...claim, spec: { ...claim.spec, storageClassName: found.metadata.name } } as KubeObject;
    },
  };
}

const newestDefault = (classes: readonly StorageClass[]): StorageClass | undefined =>
  newest(classes.filter(({ metadata }) => metadata.annotations?.[annotation] === 'true'));

/** Upstream's order among several defaults: the newest, then by name. */
export function newest<T extends KubeObject>(objects: readonly T[]): T | undefined {
  return [...objects].sort(
    ({ metadata: a }, { metadata: b }) =>
      (b.creationTimestamp ?? '').localeCompare(a.creationTimestamp ?? '') ||
      ((a.name ?? '') < (b.name ?? '') ? -1 : 1),
  )[0];
}

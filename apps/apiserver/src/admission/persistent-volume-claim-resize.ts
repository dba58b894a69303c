import { StorageClasses } from '@tinkernetes/api';
import type { PersistentVolumeClaim } from '@tinkernetes/api';
import { Quantity } from '@tinkernetes/apimachinery';
import type { AdmissionPlugin, StoreRegistry } from '../contracts';
import { concerns, notAdmitted } from './answers';

/** Claims grow only where their class allows it. */
export function persistentVolumeClaimResize(stores: StoreRegistry): AdmissionPlugin {
  return {
    name: 'PersistentVolumeClaimResize',
    handles: (a) => a.operation === 'UPDATE' && concerns(a, { resource: 'persistentvolumeclaims' }),
    validate: (a) => {
      const claim = a.object as PersistentVolumeClaim;
      const old = a.oldObject as PersistentVolumeClaim;
      if (!grows(claim, old)) return;
      if (old.status?.phase !== 'Bound')
        throw notAdmitted(a, 'Only bound persistent volume claims can be expanded');
      const name = claim.spec?.storageClassName;
      if (name && stores.for(StorageClasses).peek(name)?.allowVolumeExpansion) return;
      throw notAdmitted(
        a,
        'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
      );
    },
  };
}

function grows(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean {
  const [now, before] = [claim, old].map((c) => c.spec?.resources?.requests?.storage);
  return Boolean(now && before && Quantity.parse(now).compare(Quantity.parse(before)) > 0);
}

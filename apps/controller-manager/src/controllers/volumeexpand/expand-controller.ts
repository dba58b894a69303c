import {
  PersistentVolumeClaims,
  PersistentVolumes,
  StorageClasses,
  type PersistentVolumeClaim,
} from '@tinkernetes/api';
import { ignoreNotFound, keyOf, Quantity } from '@tinkernetes/apimachinery';
import type { Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { hostPathProvisioner, provisionedBy } from '../volumebinder/host-path-provisioner';

/** Whether a bound claim asks for more than it has. */
export function wantsToGrow({ spec, status }: PersistentVolumeClaim): boolean {
  if (status?.phase !== 'Bound') return false;
  const wanted = Quantity.tryParse(spec.resources?.requests?.['storage']);
  const has = Quantity.tryParse(status.capacity?.['storage']);
  return wanted !== undefined && has !== undefined && wanted.compare(has) > 0;
}

/**
 * Grows volumes of the built-in provisioner, which are directories without a size of their own, and says of all others
 * that their driver's resizer is waited for. Watches claims, volumes and classes; writes volumes and claims' statuses.
 * Source: k8s.io/kubernetes/pkg/controller/volume/expand.
 */
export function startExpandController(context: ControllerContext): RunnableController {
  const { client, informers, recorder } = context;
  const queue = context.queues.create('volume_expand');
  const claims = informers.for(PersistentVolumeClaims);
  const volumes = informers.for(PersistentVolumes);
  const classes = informers.for(StorageClasses);
  const enqueue = (claim: PersistentVolumeClaim) => {
    if (wantsToGrow(claim)) queue.add(keyOf(claim));
  };
  claims.addEventHandler({
    added: enqueue,
    updated: (before, claim) => {
      const sizeOf = (c: PersistentVolumeClaim) => String(c.spec.resources?.requests?.['storage'] ?? '');
      if (sizeOf(before) !== sizeOf(claim) || before.status?.phase !== claim.status?.phase) enqueue(claim);
    },
  });
  const reconciler: Reconciler = {
    name: 'persistentvolume-expander-controller',
    async reconcile(key, { signal }) {
      const claim = claims.lister.getByKey(key);
      if (!claim || !wantsToGrow(claim)) return;
      const volume = volumes.lister.get(claim.spec.volumeName ?? '');
      const storageClass = classes.lister.get(claim.spec.storageClassName ?? '');
      if (!volume || !storageClass?.allowVolumeExpansion) return;
      if (volume.metadata.annotations?.[provisionedBy] !== hostPathProvisioner) {
        const message = 'waiting for an external controller to expand this PVC';
        recorder.event(claim, 'Normal', 'ExternalExpanding', message);
        return;
      }
      const storage = claim.spec.resources?.requests?.['storage'] ?? '0';
      const capacity = { ...volume.spec.capacity, storage };
      await client
        .for(PersistentVolumes)
        .patch(volume.metadata.name, { spec: { capacity } }, { type: 'merge', signal });
      const { name, namespace } = claim.metadata;
      const status = { capacity: { ...claim.status?.capacity, storage } };
      await client
        .for(PersistentVolumeClaims)
        .patch(name, { status }, { type: 'merge', namespace, subresource: 'status', signal })
        .catch(ignoreNotFound);
      recorder.event(claim, 'Normal', 'VolumeResizeSuccessful', 'Resize volume succeeded');
    },
  };
  return queueController({ context, queue, reconciler, concurrency: 1 });
}

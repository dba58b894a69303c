import { PersistentVolumes, type PersistentVolume } from '@tinkernetes/api';
import type { Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { withFinalizer, withoutFinalizer } from './finalizer';

const finalizer = 'kubernetes.io/pv-protection';

/**
 * Holds a volume that is being deleted while it is bound. Watches and writes PersistentVolumes.
 * Source: k8s.io/kubernetes/pkg/controller/volume/pvprotection.
 */
export function startVolumeProtectionController(context: ControllerContext): RunnableController {
  const { client, informers } = context;
  const queue = context.queues.create('pvprotection');
  const volumes = informers.for(PersistentVolumes);
  const enqueue = (volume: PersistentVolume) => queue.add(volume.metadata.name);
  volumes.addEventHandler({ added: enqueue, updated: (_, volume) => enqueue(volume) });
  const reconciler: Reconciler = {
    name: 'persistentvolume-protection-controller',
    async reconcile(name, { signal }) {
      const volume = volumes.lister.get(name);
      if (!volume) return;
      const isBound = volume.status?.phase === 'Bound';
      const next = volume.metadata.deletionTimestamp
        ? isBound
          ? volume
          : withoutFinalizer(volume, finalizer)
        : withFinalizer(volume, finalizer);
      if (next !== volume) await client.for(PersistentVolumes).update(next, { signal });
    },
  };
  return queueController({ context, queue, reconciler, concurrency: 1 });
}

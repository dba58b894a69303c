import {
  PersistentVolumeClaims,
  PersistentVolumes,
  VolumeAttributesClasses,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type VolumeAttributesClass,
} from '@tinkernetes/api';
import type { Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { withFinalizer, withoutFinalizer } from '../volumeprotection/finalizer';

const finalizer = 'kubernetes.io/vac-protection';
const classIndex = 'volumeAttributesClass';

/** Every class that a claim has, had, or is about to have. */
export const classesOfClaim = ({ spec, status }: PersistentVolumeClaim): string[] =>
  [
    ...new Set(
      [
        spec.volumeAttributesClassName,
        status?.currentVolumeAttributesClassName,
        status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
      ].filter((name) => name !== undefined && name !== ''),
    ),
  ] as string[];
export const classesOfVolume = ({ spec }: PersistentVolume): string[] =>
  spec.volumeAttributesClassName ? [spec.volumeAttributesClassName] : [];

/** The class as it is to be, with or without what holds it; the same object where nothing changes. */
export function protectedClass(found: VolumeAttributesClass, isInUse: boolean): VolumeAttributesClass {
  if (!found.metadata.deletionTimestamp) return withFinalizer(found, finalizer);
  return isInUse ? found : withoutFinalizer(found, finalizer);
}

/** Classes that a claim no longer uses: one of them may now be free to go. */
export const classesLeft = (before: PersistentVolumeClaim, claim: PersistentVolumeClaim): string[] =>
  classesOfClaim(before).filter((name) => !classesOfClaim(claim).includes(name));

/**
 * Holds a VolumeAttributesClass that is being deleted until no volume and no claim uses it. Watches all three; writes
 * the classes' finalizers. Source: k8s.io/kubernetes/pkg/controller/volume/vacprotection.
 */
export function startVolumeAttributesClassProtectionController(
  context: ControllerContext,
): RunnableController {
  const { client, informers } = context;
  const queue = context.queues.create('vacprotection');
  const classes = informers.for(VolumeAttributesClasses);
  const claims = informers.for(PersistentVolumeClaims);
  const volumes = informers.for(PersistentVolumes);
  claims.addIndex(classIndex, classesOfClaim);
  volumes.addIndex(classIndex, classesOfVolume);
  classes.addEventHandler({
    added: ({ metadata }) => queue.add(metadata.name),
    updated: (_, { metadata }) => queue.add(metadata.name),
  });
  const release = (names: readonly string[]) => names.forEach((name) => queue.add(name));
  claims.addEventHandler({
    updated: (before, claim) => release(classesLeft(before, claim)),
    deleted: (claim) => release(classesOfClaim(claim)),
  });
  volumes.addEventHandler({
    updated: (before, volume) => {
      if (before.spec.volumeAttributesClassName !== volume.spec.volumeAttributesClassName)
        release(classesOfVolume(before));
    },
    deleted: (volume) => release(classesOfVolume(volume)),
  });
  const reconciler: Reconciler = {
    name: 'volumeattributesclass-protection-controller',
    async reconcile(name, { signal }) {
      const found = classes.lister.get(name);
      if (!found) return;
      const isInUse =
        claims.lister.byIndex(classIndex, name).length > 0 ||
        volumes.lister.byIndex(classIndex, name).length > 0;
      const next = protectedClass(found, isInUse);
      if (next !== found) await client.for(VolumeAttributesClasses).update(next, { signal });
    },
  };
  return queueController({ context, queue, reconciler, concurrency: 1 });
}

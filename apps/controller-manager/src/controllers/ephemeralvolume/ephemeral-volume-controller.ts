import {
  PersistentVolumeClaims,
  Pods,
  type PersistentVolumeClaim,
  type Pod,
  type Volume,
} from '@tinkernetes/api';
import { isAlreadyExists, isPodTerminal, keyOf } from '@tinkernetes/apimachinery';
import type { Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';

const podIndex = 'podOfClaim';

/** `POD-VOLUME`: how the claim of a Pod's ephemeral volume is named. */
export const ephemeralClaimName = (pod: Pod, volume: Pick<Volume, 'name'>): string =>
  `${pod.metadata.name}-${volume.name}`;

/** The claim that a Pod's ephemeral volume asks for; it goes with the Pod. */
export function ephemeralClaim(pod: Pod, volume: Volume): PersistentVolumeClaim | undefined {
  const template = volume.ephemeral?.volumeClaimTemplate;
  if (!template) return undefined;
  return {
    metadata: {
      ...template.metadata,
      name: ephemeralClaimName(pod, volume),
      namespace: pod.metadata.namespace,
      ownerReferences: [
        {
          apiVersion: 'v1',
          kind: 'Pod',
          name: pod.metadata.name,
          uid: pod.metadata.uid ?? '',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: template.spec,
  };
}

/**
 * Makes the claims of Pods' generic ephemeral volumes. Watches Pods and claims; writes claims.
 * Source: k8s.io/kubernetes/pkg/controller/volume/ephemeral.
 */
export function startEphemeralVolumeController(context: ControllerContext): RunnableController {
  const { client, informers, flags, metrics, recorder } = context;
  const attempts = metrics.counter(
    'ephemeral_volume_controller_create_total',
    'Number of PersistenVolumeClaims creation requests',
  );
  const failures = metrics.counter(
    'ephemeral_volume_controller_create_failures_total',
    'Number of PersistenVolumeClaims creation requests',
  );
  const queue = context.queues.create('ephemeral_volume');
  const pods = informers.for(Pods);
  const claims = informers.for(PersistentVolumeClaims);
  pods.addIndex(podIndex, (pod) =>
    (pod.spec.volumes ?? [])
      .filter((volume) => volume.ephemeral)
      .map((volume) => `${pod.metadata.namespace}/${ephemeralClaimName(pod, volume)}`),
  );
  const isDone = (pod: Pod) => Boolean(pod.metadata.deletionTimestamp) || isPodTerminal(pod);
  pods.addEventHandler({
    added: (pod) => {
      if (!isDone(pod) && pod.spec.volumes?.some((volume) => volume.ephemeral)) queue.add(keyOf(pod));
    },
  });
  // A claim that is deleted before its time is made again.
  claims.addEventHandler({
    deleted: (claim) => pods.lister.byIndex(podIndex, keyOf(claim)).forEach((pod) => queue.add(keyOf(pod))),
  });
  const reconciler: Reconciler = {
    name: 'ephemeral-volume-controller',
    async reconcile(key, { signal }) {
      const pod = pods.lister.getByKey(key);
      if (!pod || isDone(pod)) return;
      for (const volume of pod.spec.volumes ?? []) {
        try {
          await ensureClaim(pod, volume, signal);
        } catch (error) {
          const message = `ephemeral volume ${volume.name}: ${(error as Error).message}`;
          recorder.event(pod, 'Warning', 'FailedBinding', message);
          throw error;
        }
      }
    },
  };
  async function ensureClaim(pod: Pod, volume: Volume, signal: AbortSignal): Promise<void> {
    const wanted = ephemeralClaim(pod, volume);
    if (!wanted) return;
    const { name, namespace, uid } = pod.metadata;
    const known = claims.lister.get(wanted.metadata.name, namespace);
    const isOwner = known?.metadata.ownerReferences?.some((owner) => owner.controller && owner.uid === uid);
    if (known && !isOwner)
      throw new Error(
        `PVC ${namespace}/${known.metadata.name} was not created for pod ${namespace}/${name} (pod is not owner)`,
      );
    if (known) return;
    attempts.inc();
    await client
      .for(PersistentVolumeClaims)
      .create(wanted, { namespace, signal, trace: client.traceOf(pod) })
      .catch((error: unknown) => {
        failures.inc();
        // Our own, which the cache does not show yet; a stranger's is found at the next look.
        if (isAlreadyExists(error)) return;
        const { message } = error as Error;
        throw new Error(`create PVC ${wanted.metadata.name}: ${message}`, { cause: error });
      });
  }
  const concurrency = flags['concurrent-ephemeralvolume-syncs'];
  return queueController({ context, queue, reconciler, concurrency });
}

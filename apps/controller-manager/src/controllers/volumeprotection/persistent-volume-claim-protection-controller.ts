import { PersistentVolumeClaims, Pods, type PersistentVolumeClaim, type Pod } from '@tinkernetes/api';
import { isPodTerminal, keyOf } from '@tinkernetes/apimachinery';
import type { Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { claimsOf } from '../shared/claims-of-pod';
import { withFinalizer, withoutFinalizer } from './finalizer';

const finalizer = 'kubernetes.io/pvc-protection';
const claimIndex = 'claimKey';

/**
 * Holds a claim that is being deleted until no Pod uses it. Watches claims and Pods; writes the claims' finalizers.
 * Source: k8s.io/kubernetes/pkg/controller/volume/pvcprotection.
 */
export function startClaimProtectionController(context: ControllerContext): RunnableController {
  const { client, informers } = context;
  const queue = context.queues.create('pvcprotection');
  const claims = informers.for(PersistentVolumeClaims);
  const pods = informers.for(Pods);
  pods.addIndex(claimIndex, claimsOf);
  const enqueue = (claim: PersistentVolumeClaim) => {
    const isProtected = claim.metadata.finalizers?.includes(finalizer) ?? false;
    if (isProtected === Boolean(claim.metadata.deletionTimestamp)) queue.add(keyOf(claim));
  };
  claims.addEventHandler({ added: enqueue, updated: (_, claim) => enqueue(claim) });
  const release = (pod: Pod) => claimsOf(pod).forEach((key) => queue.add(key));
  pods.addEventHandler({
    updated: (before, pod) => {
      if (isPodTerminal(pod) && !isPodTerminal(before)) release(pod);
    },
    deleted: release,
  });
  const reconciler: Reconciler = {
    name: 'persistentvolumeclaim-protection-controller',
    async reconcile(key, { signal }) {
      const claim = claims.lister.getByKey(key);
      if (!claim) return;
      const inUse = pods.lister
        .byIndex(claimIndex, key)
        .some((pod) => !isPodTerminal(pod) && pod.spec.nodeName !== undefined);
      const next = claim.metadata.deletionTimestamp
        ? inUse
          ? claim
          : withoutFinalizer(claim, finalizer)
        : withFinalizer(claim, finalizer);
      if (next !== claim)
        await client
          .for(PersistentVolumeClaims)
          .update(next, { namespace: claim.metadata.namespace, signal });
    },
  };
  return queueController({ context, queue, reconciler, concurrency: 1 });
}

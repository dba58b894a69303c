import {
  ConfigMaps,
  CronJobs,
  DaemonSets,
  Deployments,
  Ingresses,
  Jobs,
  PersistentVolumeClaims,
  Pods,
  ReplicaSets,
  ReplicationControllers,
  ResourceQuotas,
  Secrets,
  ServiceAccounts,
  Services,
  StatefulSets,
  type KubeObject,
  type Pod,
  type ResourceDescriptor,
} from '@tinkernetes/api';
import { ignoreNotFound, isPodTerminal, keyOf } from '@tinkernetes/apimachinery';
import type { Reconciler } from '@tinkernetes/controller';
import type { SharedInformer } from '@tinkernetes/informers';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { sameStatus } from '../shared/same-status';
import { resourceOfName, usedOf } from './usage';

/** What can be counted from caches; the garbage collector fills them in any case. */
const countable: ReadonlyArray<ResourceDescriptor<KubeObject>> = [
  Pods,
  Services,
  PersistentVolumeClaims,
  ConfigMaps,
  Secrets,
  ServiceAccounts,
  ReplicationControllers,
  ResourceQuotas,
  Deployments,
  ReplicaSets,
  StatefulSets,
  DaemonSets,
  Jobs,
  CronJobs,
  Ingresses,
] as unknown as ReadonlyArray<ResourceDescriptor<KubeObject>>;

/**
 * Keeps what is used of each quota up to date; admission charges creations at once, this gives back what ended or was
 * never written. Watches ResourceQuotas and what they count; writes the status.
 * Source: k8s.io/kubernetes/pkg/controller/resourcequota.
 */
export function startResourceQuotaController(context: ControllerContext): RunnableController {
  const { client, informers } = context;
  const queue = context.queues.create('resourcequota_primary');
  const quotas = informers.for(ResourceQuotas);
  const caches = new Map<string, SharedInformer<KubeObject>>();
  quotas.addEventHandler({
    added: (quota) => queue.add(keyOf(quota)),
    updated: (_, quota) => queue.add(keyOf(quota)),
  });
  const enqueueNamespace = ({ metadata }: KubeObject) => {
    for (const quota of quotas.lister.list(metadata.namespace)) queue.add(keyOf(quota));
  };
  for (const descriptor of countable) {
    const { group, resource } = descriptor;
    const cache = informers.for(descriptor);
    caches.set(group ? `${resource}.${group}` : resource, cache);
    const changesUsage = (before: KubeObject, after: KubeObject) =>
      resource === 'pods'
        ? isPodTerminal(after as Pod) && !isPodTerminal(before as Pod)
        : (resource === 'services' || resource === 'persistentvolumeclaims') &&
          before.metadata.generation !== after.metadata.generation;
    cache.addEventHandler({
      added: (object, isInitial) => !isInitial && enqueueNamespace(object),
      updated: (before, after) => changesUsage(before, after) && enqueueNamespace(after),
      deleted: enqueueNamespace,
    });
  }

  const reconciler: Reconciler = {
    name: 'resourcequota-controller',
    async reconcile(key, { signal }) {
      const quota = quotas.lister.getByKey(key);
      if (!quota) return;
      const { namespace } = quota.metadata;
      const wanted = new Set(Object.keys(quota.spec?.hard ?? {}).map(resourceOfName));
      const counted = [...wanted].flatMap((name) => {
        const cache = caches.get(name);
        if (!cache) return [];
        const { group, resource } = cache.descriptor;
        return [{ group, resource, objects: cache.lister.list(namespace) }];
      });
      const status = { hard: quota.spec?.hard, used: usedOf(quota, counted) };
      if (sameStatus(quota.status, status) && quota.status?.hard) return;
      await client
        .for(ResourceQuotas)
        .updateStatus({ ...quota, status }, { namespace, signal })
        .catch(ignoreNotFound);
    },
  };
  return queueController({
    context,
    queue,
    reconciler,
    concurrency: context.flags['concurrent-resource-quota-syncs'],
  });
}

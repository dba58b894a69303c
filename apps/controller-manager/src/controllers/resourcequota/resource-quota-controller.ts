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
  type ResourceQuota,
} from '@tinkernetes/api';
import { deepEqual, ignoreNotFound, isPodTerminal, keyOf } from '@tinkernetes/apimachinery';
import { groupResourceOf, type Reconciler } from '@tinkernetes/controller';
import type { SharedInformer } from '@tinkernetes/informers';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { discoverResources } from '../shared/discovered-resources';
import { sameStatus } from '../shared/same-status';
import { resourceOfName, usedOf } from './usage';

type Countable = ResourceDescriptor<KubeObject>;

/** What counts for more than one. */
const measured = [Pods, Services, PersistentVolumeClaims] as unknown as readonly Countable[];

/** What is counted only; other resources, custom ones too, are followed from when a quota names them. */
const counted = [
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
] as unknown as readonly Countable[];

/**
 * Keeps what is used of each quota up to date. Admission charges creations at once: counting them here, before the cache
 * shows them all, would allow too many. This gives back what ended, and at every --resource-quota-sync-period what was
 * charged and never written. Watches ResourceQuotas and what they count; writes the status.
 * Source: k8s.io/kubernetes/pkg/controller/resourcequota.
 */
export function startResourceQuotaController(context: ControllerContext): RunnableController {
  const { client, informers } = context;
  const queue = context.queues.create('resourcequota_primary');
  const quotas = informers.for(ResourceQuotas);
  const caches = new Map<string, SharedInformer<KubeObject>>();
  const enqueue = (quota: ResourceQuota) => queue.add(keyOf(quota));
  quotas.addEventHandler({
    added: enqueue,
    updated: (before, quota) => {
      if (!deepEqual(before.spec, quota.spec)) enqueue(quota);
    },
  });
  const enqueueNamespace = ({ metadata }: KubeObject) => {
    quotas.lister.list(metadata.namespace).forEach(enqueue);
  };
  const follow = (descriptor: Countable, metadataOnly: boolean) => {
    const cache = informers.for(descriptor, { metadataOnly });
    caches.set(groupResourceOf(descriptor), cache);
    cache.addEventHandler({
      updated: (before, after) => {
        const isLimited = quotas.lister.list(after.metadata.namespace).length > 0;
        if (isLimited && changesUsage(descriptor, before, after)) enqueueNamespace(after);
      },
      deleted: enqueueNamespace,
    });
    return cache;
  };
  for (const descriptor of measured) follow(descriptor, false);
  for (const descriptor of counted) follow(descriptor, !informers.has(descriptor));

  /** A resource that nobody has named before. */
  async function followNamed(name: string, signal: AbortSignal): Promise<void> {
    const { resources } = await discoverResources(client);
    const found = resources.find((r) => groupResourceOf(r) === name && r.verbs.includes('watch'));
    if (!found || caches.has(name)) return;
    const cache = follow(found, true);
    informers.start();
    await cache.waitForSync(signal);
  }

  const reconciler: Reconciler = {
    name: 'resourcequota-controller',
    async reconcile(key, { signal }) {
      const quota = quotas.lister.getByKey(key);
      if (!quota) return;
      const { namespace } = quota.metadata;
      const wanted = new Set(Object.keys(quota.spec?.hard ?? {}).map(resourceOfName));
      for (const name of wanted) if (!caches.has(name)) await followNamed(name, signal);
      const objects = [...wanted].flatMap((name) => {
        const cache = caches.get(name);
        if (!cache) return [];
        const { group, resource } = cache.descriptor;
        return [{ group, resource, objects: cache.lister.list(namespace) }];
      });
      const status = { hard: quota.spec?.hard, used: usedOf(quota, objects) };
      if (!sameStatus(quota.status, status) || !quota.status?.hard)
        await client
          .for(ResourceQuotas)
          .updateStatus({ ...quota, status }, { namespace, signal })
          .catch(ignoreNotFound);
      return { requeueAfterMs: context.flags['resource-quota-sync-period'] };
    },
  };
  return queueController({
    context,
    queue,
    reconciler,
    concurrency: context.flags['concurrent-resource-quota-syncs'],
  });
}

/** Whether an update may change what the object counts for. */
function changesUsage({ group, resource }: Countable, before: KubeObject, after: KubeObject): boolean {
  if (group !== '') return false;
  if (resource === 'pods') return changesPodUsage(before as Pod, after as Pod);
  const usage = ({ spec, status }: Measured) => [spec, status?.allocatedResources];
  return measured.some((each) => each.resource === resource) && !deepEqual(usage(before), usage(after));
}

type Measured = KubeObject & { spec?: unknown; status?: { allocatedResources?: unknown } };

function changesPodUsage(before: Pod, after: Pod): boolean {
  if (isPodTerminal(after)) return !isPodTerminal(before);
  const usage = ({ spec }: Pod) => [
    spec.activeDeadlineSeconds,
    spec.resources,
    ...[...spec.containers, ...(spec.initContainers ?? [])].map(({ resources }) => resources),
  ];
  return !deepEqual(usage(before), usage(after));
}

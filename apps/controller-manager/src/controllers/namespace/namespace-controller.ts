import { Namespaces, Pods, type Namespace, type NamespaceCondition, type Pod } from '@tinkernetes/api';
import { isConflict, isNotFound, setCondition, StatusError } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import type { ReconcileResult, Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { discoverResources, type DiscoveredResource } from '../shared/discovered-resources';
import { contentConditions, type ContentReport } from './conditions';

const finalizer = 'kubernetes';

/**
 * Empties Namespaces that are being deleted, Pods first, then lets them go. Watches Namespaces; deletes whatever is in
 * them. Source: k8s.io/kubernetes/pkg/controller/namespace/deletion.
 */
export function startNamespaceController(context: ControllerContext): RunnableController {
  const { client, clock, informers } = context;
  const queue = context.queues.create('namespace');
  const namespaces = informers.for(Namespaces);
  const enqueue = (ns: Namespace) => {
    if (ns.metadata.deletionTimestamp) queue.add(ns.metadata.name);
  };
  namespaces.addEventHandler({ added: enqueue, updated: (_, ns) => enqueue(ns) });

  const reconciler: Reconciler = {
    name: 'namespace-controller',
    async reconcile(name, { signal }): Promise<ReconcileResult | void> {
      const namespace = namespaces.lister.get(name);
      if (!namespace?.metadata.deletionTimestamp || !namespace.spec.finalizers?.includes(finalizer)) return;
      const report = await emptyNamespace(name, signal);
      await writeConditions(namespace, report, signal);
      // What could not be discovered may have objects in it.
      const failures = [...report.discoveryFailures, ...report.failures];
      if (failures.length > 0) throw new Error(failures.join('; '));
      if (report.remaining.length > 0) return { requeueAfterMs: report.waitMs };
      const fresh = await client.for(Namespaces).get(name, { signal }).catch(undefinedIfGone);
      if (!fresh) return;
      const finalizers = (fresh.spec.finalizers ?? []).filter((f) => f !== finalizer);
      await client
        .for(Namespaces)
        .subresource('PUT', name, 'finalize', { ...fresh, spec: { ...fresh.spec, finalizers } }, { signal })
        .catch(undefinedIfGone);
    },
  };

  async function emptyNamespace(namespace: string, signal: AbortSignal): Promise<ContentReport> {
    const { resources, failed } = await discoverResources(client);
    const deletable = resources.filter(
      (r) => r.namespaced && r.verbs.includes('list') && r.verbs.includes('delete'),
    );
    const report: ContentReport = { failures: [], discoveryFailures: failed, remaining: [], waitMs: 100 };
    // Pods hold on to volumes and accounts: the rest goes when they have gone.
    const isPods = (r: DiscoveredResource) => r.group === '' && r.resource === 'pods';
    await Promise.all(deletable.filter(isPods).map((r) => emptyResource(r, { namespace, signal, report })));
    if (report.remaining.length > 0) report.waitMs = await podWait(namespace, signal);
    else
      await Promise.all(
        deletable.filter((r) => !isPods(r)).map((r) => emptyResource(r, { namespace, signal, report })),
      );
    return report;
  }

  async function emptyResource(
    resource: DiscoveredResource,
    { namespace, signal, report }: { namespace: string; signal: AbortSignal; report: ContentReport },
  ): Promise<void> {
    const resourceClient = client.for(resource);
    try {
      const before = await resourceClient.list({ namespace, signal });
      if (before.items.length === 0) return;
      if (resource.verbs.includes('deletecollection'))
        await resourceClient.deleteCollection({ namespace, signal, propagationPolicy: 'Background' });
      else
        await Promise.all(
          before.items.map((item) =>
            resourceClient.delete(item.metadata.name, { namespace, signal }).catch(undefinedIfGone),
          ),
        );
      const { items } = await resourceClient.list({ namespace, signal });
      if (items.length > 0)
        report.remaining.push({
          resource,
          count: items.length,
          finalizers: items.flatMap((i) => i.metadata.finalizers ?? []),
        });
    } catch (error) {
      // Served by another API server, or of a kind that is just being removed: nothing of it is stored here.
      if (
        error instanceof StatusError &&
        (error.reason === 'NotFound' || error.reason === 'MethodNotAllowed')
      )
        return;
      report.failures.push(`${resource.resource}: ${(error as Error).message}`);
    }
  }

  /** Half the longest grace period that is still running, as upstream estimates; looked at again at least every second. */
  async function podWait(namespace: string, signal: AbortSignal): Promise<number> {
    const { items } = await client.for(Pods).list({ namespace, signal });
    const graceMs = Math.max(
      0,
      ...items.map((pod: Pod) => (pod.metadata.deletionGracePeriodSeconds ?? 0) * 1000),
    );
    return Math.min(1000, Math.max(100, graceMs / 2));
  }

  async function writeConditions(
    namespace: Namespace,
    report: ContentReport,
    signal: AbortSignal,
  ): Promise<void> {
    const lastTransitionTime = formatTime(clock.now());
    const before: readonly NamespaceCondition[] = namespace.status?.conditions ?? [];
    const conditions = contentConditions(report).reduce<NamespaceCondition[]>(
      (list, c) => setCondition(list, { ...c, lastTransitionTime }),
      [...before],
    );
    if (conditions.length === before.length && conditions.every((c, i) => c === before[i])) return;
    const next = { ...namespace, status: { ...namespace.status, conditions } };
    await client
      .for(Namespaces)
      .updateStatus(next, { signal })
      .catch((error: unknown) => {
        if (!isConflict(error) && !isNotFound(error)) throw error;
      });
  }
  return queueController({
    context,
    queue,
    reconciler,
    concurrency: context.flags['concurrent-namespace-syncs'],
  });
}

function undefinedIfGone(error: unknown): undefined {
  if (!isNotFound(error) && !isConflict(error)) throw error;
  return undefined;
}

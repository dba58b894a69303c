import { Nodes, Pods, type Pod } from '@tinkernetes/api';
import { ignoreNotFound, isConflict, isNotFound, isPodTerminal } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { missingNodesOf, stuckOf, surplusOf, type Removal } from './plan';

const periodMs = 20_000;
/** How long a node must be gone before its Pods are taken for lost. */
const quarantineMs = 40_000;

/**
 * Removes Pods that nobody else will: of nodes that are gone or out of service, terminating ones that were never
 * scheduled, and the oldest finished ones beyond the threshold. Source: k8s.io/kubernetes/pkg/controller/podgc.
 */
export function startPodGcController(context: ControllerContext): RunnableController {
  const { client, clock, flags, informers, logger, metrics, signal } = context;
  const nodes = informers.for(Nodes);
  const pods = informers.for(Pods);
  const missingSince = new Map<string, number>();
  const removed = metrics.counter(
    'pod_gc_collector_force_delete_pods_total',
    'Number of pods that are being forcefully deleted since the Pod GC Controller started.',
    ['namespace', 'reason'],
  );
  const failed = metrics.counter(
    'pod_gc_collector_force_delete_pod_errors_total',
    'Number of errors encountered when forcefully deleting the pods since the Pod GC Controller started.',
    ['namespace', 'reason'],
  );

  const nodeOf = (name: string) => nodes.lister.get(name);

  async function collect(): Promise<void> {
    const all = pods.lister.list();
    for (const removal of surplusOf(all, flags['terminated-pod-gc-threshold'])) await remove(removal);
    await removeOrphans(all);
    for (const removal of stuckOf(all, nodeOf)) await remove(removal);
  }

  async function removeOrphans(all: readonly Pod[]): Promise<void> {
    const now = clock.now();
    const missing = missingNodesOf(all, nodeOf);
    for (const name of missingSince.keys()) if (!missing.has(name)) missingSince.delete(name);
    for (const name of missing) missingSince.set(name, missingSince.get(name) ?? now);
    const lost = [...missing].filter((name) => now - (missingSince.get(name) ?? now) >= quarantineMs);
    for (const name of lost) {
      if (await exists(name)) continue;
      const condition = {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'DeletionByPodGC',
        message: 'PodGC: node no longer exists',
        lastTransitionTime: formatTime(now),
      };
      for (const pod of all.filter((p) => p.spec.nodeName === name))
        await remove({ pod, reason: 'orphaned' }, condition);
    }
  }

  /** The cache may be behind. */
  async function exists(node: string): Promise<boolean> {
    return (await client.for(Nodes).get(node, { signal }).catch(ignoreNotFound)) !== undefined;
  }

  /** By force: nobody is there to stop its containers. A Pod that has not ended yet counts as failed. */
  async function remove(
    { pod, reason }: Removal,
    condition?: { type: string; status: string; reason: string; message: string; lastTransitionTime: string },
  ): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    try {
      if (!isPodTerminal(pod)) {
        // Its role allows patches only.
        const status = { phase: 'Failed', ...(condition ? { conditions: [condition] } : {}) };
        await client
          .for(Pods)
          .patch(
            name,
            { metadata: { uid }, status },
            { type: 'strategic', subresource: 'status', namespace, signal },
          );
      }
      await client
        .for(Pods)
        .delete(name, { namespace, gracePeriodSeconds: 0, preconditions: { uid }, signal });
      removed.inc({ namespace: namespace ?? '', reason });
    } catch (error) {
      failed.inc({ namespace: namespace ?? '', reason });
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  return {
    async run() {
      while (!signal.aborted) {
        await clock.sleep(periodMs, signal).catch(() => undefined);
        if (signal.aborted) return;
        await collect().catch((error: unknown) => {
          if (!signal.aborted) logger.warn({ err: error }, 'collecting Pods failed, trying again');
        });
      }
    },
  };
}

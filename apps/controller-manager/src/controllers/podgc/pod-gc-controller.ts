import { Nodes, Pods, type Pod } from '@tinkernetes/api';
import { ignoreNotFound, isConflict, isNotFound, keyOf } from '@tinkernetes/apimachinery';
import type { ControllerContext, RunnableController } from '../../manager/context';
import {
  lastStatusOf,
  lostNodesOf,
  missingNodesOf,
  missingSinceWhen,
  orphansOf,
  stuckOf,
  surplusOf,
  type Removal,
} from './plan';

const periodMs = 20_000;

/**
 * Removes Pods that nobody else will: of nodes that are gone or out of service, terminating ones that were never
 * scheduled, and the oldest finished ones beyond the threshold. Source: k8s.io/kubernetes/pkg/controller/podgc.
 */
export function startPodGcController(context: ControllerContext): RunnableController {
  const { client, clock, flags, informers, logger, metrics, signal } = context;
  const nodes = informers.for(Nodes);
  const pods = informers.for(Pods);
  let missingSince: ReadonlyMap<string, number> = new Map();
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
    missingSince = missingSinceWhen(missingSince, missingNodesOf(all, nodeOf), now);
    for (const name of lostNodesOf(missingSince, now))
      if (!(await exists(name))) for (const removal of orphansOf(all, name)) await remove(removal);
  }

  /** The cache may be behind. */
  async function exists(node: string): Promise<boolean> {
    return (await client.for(Nodes).get(node, { signal }).catch(ignoreNotFound)) !== undefined;
  }

  /** By force: nobody is there to stop its containers. What fails is tried again in the next round. */
  async function remove(removal: Removal): Promise<void> {
    const { pod, reason } = removal;
    const { name, namespace, uid } = pod.metadata;
    removed.inc({ namespace: namespace ?? '', reason });
    try {
      const status = lastStatusOf(removal, clock.now());
      // Its role allows patches only.
      if (status)
        await client
          .for(Pods)
          .patch(
            name,
            { metadata: { uid }, status },
            { type: 'strategic', subresource: 'status', namespace, signal },
          );
      await client
        .for(Pods)
        .delete(name, { namespace, gracePeriodSeconds: 0, preconditions: { uid }, signal });
    } catch (error) {
      failed.inc({ namespace: namespace ?? '', reason });
      if (!signal.aborted && !isNotFound(error) && !isConflict(error))
        logger.warn({ err: error, pod: keyOf(pod) }, 'removing a Pod failed');
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

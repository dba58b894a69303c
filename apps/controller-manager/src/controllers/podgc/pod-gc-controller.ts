import { Nodes, Pods, type Pod } from '@tinkernetes/api';
import {
  isConflict,
  isNotFound,
  isPodTerminal,
  setCondition,
  type StatusError,
} from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import type { ControllerContext, RunnableController } from '../../manager/context';

const periodMs = 20_000;
/** How long a node must be gone before its Pods are taken for lost. */
const quarantineMs = 40_000;

/**
 * Removes Pods that nobody else will: of nodes that are gone, terminating ones that were never scheduled, and the
 * oldest finished ones beyond the threshold. Source: k8s.io/kubernetes/pkg/controller/podgc.
 */
export function startPodGcController(context: ControllerContext): RunnableController {
  const { client, clock, flags, informers, logger, signal } = context;
  const nodes = informers.for(Nodes);
  const pods = informers.for(Pods);
  const missingSince = new Map<string, number>();

  async function collect(): Promise<void> {
    const all = pods.lister.list();
    await removeSurplus(all);
    await removeOrphans(all);
    const unscheduled = all.filter((pod) => pod.metadata.deletionTimestamp && !pod.spec.nodeName);
    await Promise.all(unscheduled.map((pod) => remove(pod)));
  }

  async function removeSurplus(all: readonly Pod[]): Promise<void> {
    const threshold = flags['terminated-pod-gc-threshold'];
    if (threshold === 0) return;
    const ended = all.filter(isPodTerminal);
    if (ended.length <= threshold) return;
    const oldest = [...ended].sort((a, b) =>
      (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? ''),
    );
    for (const pod of oldest.slice(0, ended.length - threshold)) await remove(pod);
  }

  async function removeOrphans(all: readonly Pod[]): Promise<void> {
    const now = clock.now();
    const missing = new Set(
      all.map((p) => p.spec.nodeName).filter((n): n is string => Boolean(n) && !nodes.lister.get(n ?? '')),
    );
    for (const name of missingSince.keys()) if (!missing.has(name)) missingSince.delete(name);
    for (const name of missing) missingSince.set(name, missingSince.get(name) ?? now);
    const lost = [...missing].filter((name) => now - (missingSince.get(name) ?? now) >= quarantineMs);
    for (const name of lost) {
      const stillGone = await client
        .for(Nodes)
        .get(name, { signal })
        .then(
          () => false,
          (error: StatusError) => isNotFound(error),
        );
      if (!stillGone) continue;
      const condition = {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'DeletionByPodGC',
        message: 'PodGC: node no longer exists',
        lastTransitionTime: formatTime(now),
      };
      for (const pod of all.filter((p) => p.spec.nodeName === name)) await remove(pod, condition);
    }
  }

  /** By force: nobody is there to stop its containers. A Pod that has not ended yet counts as failed. */
  async function remove(
    pod: Pod,
    condition?: { type: string; status: string; reason: string; message: string; lastTransitionTime: string },
  ): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    try {
      if (condition && !isPodTerminal(pod)) {
        const status = {
          ...pod.status,
          phase: 'Failed' as const,
          conditions: setCondition(pod.status?.conditions, condition),
        };
        await client.for(Pods).updateStatus({ ...pod, status }, { namespace, signal });
      }
      await client
        .for(Pods)
        .delete(name, { namespace, gracePeriodSeconds: 0, preconditions: { uid }, signal });
    } catch (error) {
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

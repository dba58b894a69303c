import { Pods, type Pod } from '@tinkernetes/api';
import { findCondition, ignoreNotFound, isPodTerminal, keyOf } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import type { ReconcileResult, Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';

/** A Pod that is said to be disrupted and is not being deleted after this time was not disrupted after all. */
const staleAfterMs = 2 * 60_000;

/** Milliseconds until a Pod's condition DisruptionTarget is stale (0 or less: now); undefined: it has none that can be. */
export function untilStale(pod: Pod, now: number): number | undefined {
  const condition = findCondition(pod.status?.conditions, 'DisruptionTarget');
  // What a kubelet terminates may take its time.
  const mayBe = condition?.status === 'True' && condition.reason !== 'TerminationByKubelet';
  if (!mayBe || pod.metadata.deletionTimestamp || isPodTerminal(pod)) return undefined;
  return Date.parse(condition.lastTransitionTime ?? '') + staleAfterMs - now;
}

/** Takes back DisruptionTarget from Pods that stay. Source: pkg/controller/disruption syncStalePodDisruption. */
export function startStaleDisruptions(context: ControllerContext): RunnableController {
  const { client, clock, informers } = context;
  const queue = context.queues.create('stale_pod_disruption');
  const pods = informers.for(Pods);
  const onPod = (pod: Pod) => {
    if (untilStale(pod, clock.now()) !== undefined) queue.add(keyOf(pod));
  };
  pods.addEventHandler({ added: onPod, updated: (_, pod) => onPod(pod) });
  const reconciler: Reconciler = {
    name: 'stale-pod-disruption',
    async reconcile(key, { signal }): Promise<ReconcileResult | void> {
      const pod = pods.lister.getByKey(key);
      const wait = pod && untilStale(pod, clock.now());
      if (!pod || wait === undefined) return;
      if (wait > 0) return { requeueAfterMs: wait };
      const condition = {
        type: 'DisruptionTarget',
        status: 'False' as const,
        lastTransitionTime: formatTime(clock.now()),
      };
      const conditions = pod.status?.conditions?.map((c) => (c.type === condition.type ? condition : c));
      await client
        .for(Pods)
        .updateStatus(
          { ...pod, status: { ...pod.status, conditions } },
          { namespace: pod.metadata.namespace, signal },
        )
        .catch(ignoreNotFound);
    },
  };
  return queueController({ context, queue, reconciler, concurrency: 1 });
}

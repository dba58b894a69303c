import { Nodes, Pods, type Node, type Pod } from '@tinkernetes/api';
import { isNotFound, keyOf, setCondition, splitKey } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import type { ReconcileResult, Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { indexByNode, nodeIndex } from '../shared/node-index';
import { evictionTime } from './eviction-time';

/** Deletes Pods that don't tolerate their node's NoExecute taints (any longer). Source: pkg/controller/tainteviction. */
export function startTaintEvictionController(context: ControllerContext): RunnableController {
  const { client, clock, informers, metrics, recorder } = context;
  const deletions = metrics.counter(
    'taint_eviction_controller_pod_deletions_total',
    'Total number of Pods deleted by TaintEvictionController since its start.',
  );
  const latency = metrics.histogram(
    'taint_eviction_controller_pod_deletion_duration_seconds',
    'Latency, in seconds, between the time when a taint effect has been activated for the Pod and its deletion via TaintEvictionController.',
    { buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240] },
  );
  /** Pods, by key, that are to be deleted when their time has come. */
  const scheduled = new Map<string, Pod>();
  const queue = context.queues.create('taint-eviction-controller');
  const nodes = informers.for(Nodes);
  const pods = informers.for(Pods);
  indexByNode(pods);
  const hasTaint = (node: Node | undefined) =>
    node?.spec.taints?.some((t) => t.effect === 'NoExecute') ?? false;
  const onNode = (node: Node) =>
    pods.lister.byIndex(nodeIndex, node.metadata.name).forEach((pod) => queue.add(keyOf(pod)));
  nodes.addEventHandler({
    added: (node) => {
      if (hasTaint(node)) onNode(node);
    },
    updated: (before, node) => {
      const isChanged = JSON.stringify(before.spec.taints) !== JSON.stringify(node.spec.taints);
      if (isChanged && (hasTaint(before) || hasTaint(node))) onNode(node);
    },
  });
  const onPod = (pod: Pod) => {
    if (hasTaint(nodes.lister.get(pod.spec.nodeName ?? ''))) queue.add(keyOf(pod));
  };
  pods.addEventHandler({
    added: onPod,
    updated: (before, pod) => (before.spec.nodeName === pod.spec.nodeName ? undefined : onPod(pod)),
    deleted: (pod) => cancel(keyOf(pod)),
  });
  const cancel = (key: string): void => {
    const pod = scheduled.get(key);
    if (!pod) return;
    scheduled.delete(key);
    recorder.event(pod, 'Normal', 'TaintManagerEviction', `Cancelling deletion of Pod ${key}`);
  };

  const reconciler: Reconciler = {
    name: 'taint-eviction-controller',
    async reconcile(key, { signal }): Promise<ReconcileResult | void> {
      const pod = pods.lister.getByKey(key);
      const node = nodes.lister.get(pod?.spec.nodeName ?? '');
      if (!pod || !node || pod.metadata.deletionTimestamp) return;
      const at = evictionTime(pod, node, clock.now());
      if (at === undefined) return cancel(key);
      const wait = at - clock.now();
      if (wait > 0) {
        scheduled.set(key, pod);
        return { requeueAfterMs: wait };
      }
      scheduled.delete(key);
      const { namespace, name } = splitKey(key);
      recorder.event(pod, 'Normal', 'TaintManagerEviction', `Marking for deletion Pod ${namespace}/${name}`);
      const condition = {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'DeletionByTaintManager',
        message: 'Taint manager: deleting due to NoExecute taint',
        lastTransitionTime: formatTime(clock.now()),
      };
      const podsClient = client.for(Pods);
      try {
        const conditions = setCondition(pod.status?.conditions, condition);
        await podsClient.updateStatus(
          { ...pod, status: { ...pod.status, conditions } },
          { namespace, signal },
        );
        await podsClient.delete(name, { namespace, preconditions: { uid: pod.metadata.uid }, signal });
        deletions.inc();
        latency.observe((clock.now() - at) / 1000);
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    },
  };
  return queueController({ context, queue, reconciler, concurrency: 8 });
}

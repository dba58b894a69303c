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
  const { client, clock, informers, recorder } = context;
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
      if (JSON.stringify(before.spec.taints) !== JSON.stringify(node.spec.taints) && hasTaint(node))
        onNode(node);
    },
  });
  const onPod = (pod: Pod) => {
    if (hasTaint(nodes.lister.get(pod.spec.nodeName ?? ''))) queue.add(keyOf(pod));
  };
  pods.addEventHandler({
    added: onPod,
    updated: (before, pod) => (before.spec.nodeName === pod.spec.nodeName ? undefined : onPod(pod)),
  });

  const reconciler: Reconciler = {
    name: 'taint-eviction-controller',
    async reconcile(key, { signal }): Promise<ReconcileResult | void> {
      const pod = pods.lister.getByKey(key);
      const node = nodes.lister.get(pod?.spec.nodeName ?? '');
      if (!pod || !node || pod.metadata.deletionTimestamp) return;
      const at = evictionTime(pod, node, clock.now());
      if (at === undefined) return;
      const wait = at - clock.now();
      if (wait > 0) return { requeueAfterMs: wait };
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
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    },
  };
  return queueController({ context, queue, reconciler, concurrency: 8 });
}

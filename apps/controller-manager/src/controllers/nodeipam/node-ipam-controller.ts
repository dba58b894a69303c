import { Nodes } from '@tinkernetes/api';
import type { Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { measureCidrSets } from './cidr-metrics';
import { clusterCidrs } from './cluster-cidrs';
import { hasCidrs, NodeRanges } from './node-ranges';

/** Gives each Node ranges of Pod addresses as soon as it appears. Watches Nodes; writes `spec.podCIDR(s)`. */
export function startNodeIpamController(context: ControllerContext): RunnableController {
  const { client, flags, informers, metrics, recorder } = context;
  const queue = context.queues.create('node-ipam-controller');
  const sets = clusterCidrs(flags);
  measureCidrSets(metrics, sets);
  const ranges = new NodeRanges(sets);
  const nodes = informers.for(Nodes);
  /** Nodes that found a range exhausted. */
  const waiting = new Set<string>();

  nodes.addEventHandler({
    added: (node) => {
      ranges.occupy(node);
      queue.add(node.metadata.name);
    },
    updated: (_, node) => {
      ranges.occupy(node);
      if (!hasCidrs(node)) queue.add(node.metadata.name);
    },
    deleted: (node) => {
      ranges.release(node);
      waiting.delete(node.metadata.name);
      for (const name of waiting) queue.add(name);
    },
  });

  const reconciler: Reconciler = {
    name: 'node-ipam-controller',
    async reconcile(name, { signal }) {
      const node = nodes.lister.get(name);
      if (!node || hasCidrs(node) || !flags['allocate-node-cidrs']) return;
      const podCIDRs = ranges.reserve(name);
      if (!podCIDRs) {
        waiting.add(name);
        recorder.event(node, 'Normal', 'CIDRNotAvailable', `Node ${name} status is now: CIDRNotAvailable`);
        throw new Error(`no range of ${flags['cluster-cidr'].join(',')} is left for node ${name}`);
      }
      waiting.delete(name);
      const patch = { spec: { podCIDR: podCIDRs[0], podCIDRs } };
      await client.for(Nodes).patch(name, patch, { type: 'strategic', signal, trace: client.traceOf(node) });
      context.logger.info({ object: `node//${name}`, podCIDRs }, 'gave the node its ranges of Pod addresses');
    },
  };
  return queueController({ context, queue, reconciler, concurrency: 5 });
}

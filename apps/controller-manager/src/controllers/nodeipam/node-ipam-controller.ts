import { Nodes } from '@tinkernetes/api';
import type { Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { CidrSet } from './cidr-set';

/** Gives each Node a range of Pod addresses as soon as it appears. Watches Nodes; writes `spec.podCIDR(s)`. */
export function startNodeIpamController(context: ControllerContext): RunnableController {
  const { client, clock, flags, informers, recorder } = context;
  const queue = context.queues.create('node-ipam-controller');
  const cidrs = new CidrSet(flags['cluster-cidr'], flags['node-cidr-mask-size']);
  const nodes = informers.for(Nodes);
  /** Ranges given to nodes whose update the cache has not shown yet. */
  const assigned = new Map<string, string>();

  nodes.addEventHandler({
    added: (node) => {
      if (node.spec.podCIDR) cidrs.occupy(node.spec.podCIDR);
      queue.add(node.metadata.name);
    },
    updated: (_, node) => {
      if (!node.spec.podCIDR) queue.add(node.metadata.name);
    },
    deleted: (node) => {
      assigned.delete(node.metadata.name);
      if (node.spec.podCIDR) cidrs.release(node.spec.podCIDR);
    },
  });

  const reconciler: Reconciler = {
    name: 'node-ipam-controller',
    async reconcile(name, { signal }) {
      const node = nodes.lister.get(name);
      if (!node || node.spec.podCIDR || !flags['allocate-node-cidrs']) return;
      const cidr = assigned.get(name) ?? cidrs.allocate();
      if (!cidr) {
        recorder.event(node, 'Normal', 'CIDRNotAvailable', `Node ${name} status is now: CIDRNotAvailable`);
        throw new Error(`no range of ${flags['cluster-cidr']} is left for node ${name}`);
      }
      assigned.set(name, cidr);
      const patch = { spec: { podCIDR: cidr, podCIDRs: [cidr] } };
      await client.for(Nodes).patch(name, patch, { type: 'strategic', signal, trace: client.traceOf(node) });
      context.logger.info(
        { object: `node//${name}`, cidr, atMs: clock.now() },
        'gave the node its range of Pod addresses',
      );
    },
  };
  return queueController({ context, queue, reconciler, concurrency: 5 });
}

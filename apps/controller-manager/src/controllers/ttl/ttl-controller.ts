import { Nodes } from '@tinkernetes/api';
import { ignoreNotFound } from '@tinkernetes/apimachinery';
import type { Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { watchObjects } from '../shared/watch-objects';
import { stepFor, ttlOf } from './ttl-steps';

const annotation = 'node.alpha.kubernetes.io/ttl';

/**
 * Tells kubelets by an annotation how long they may keep Secrets and ConfigMaps, by the cluster's size. A node learns of
 * a new step with its next change. Source: k8s.io/kubernetes/pkg/controller/ttl.
 */
export function startTtlController(context: ControllerContext): RunnableController {
  const { client, informers } = context;
  const queue = context.queues.create('ttlcontroller');
  const nodes = informers.for(Nodes);
  let step = 0;
  watchObjects(nodes, (key) => queue.add(key));
  const reconciler: Reconciler = {
    name: 'ttl-controller',
    async reconcile(name, { signal }) {
      step = stepFor(nodes.lister.size, step);
      const node = nodes.lister.get(name);
      const ttl = String(ttlOf(step));
      if (!node || node.metadata.annotations?.[annotation] === ttl) return;
      const patch = { metadata: { annotations: { [annotation]: ttl } } };
      await client.for(Nodes).patch(name, patch, { type: 'strategic', signal }).catch(ignoreNotFound);
    },
  };
  return queueController({ context, queue, reconciler, concurrency: 5 });
}

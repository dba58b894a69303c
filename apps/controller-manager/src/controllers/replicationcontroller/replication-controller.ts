import { ReplicationControllers, type ReplicaSet, type ResourceDescriptor } from '@tinkernetes/api';
import { selectorOfMap } from '@tinkernetes/apimachinery';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { startReplicaController } from '../replicaset/replica-set-controller';

/**
 * The ReplicaSet controller on the older kind, whose selector is a plain map. Watches ReplicationControllers and Pods;
 * writes Pods and the status. Source: k8s.io/kubernetes/pkg/controller/replication, which wraps it the same way.
 */
export function startReplicationController(context: ControllerContext): RunnableController {
  return startReplicaController(context, {
    name: 'replicationcontroller-controller',
    queue: 'replicationmanager',
    descriptor: ReplicationControllers as unknown as ResourceDescriptor<ReplicaSet>,
    concurrency: context.flags['concurrent-rc-syncs'],
    selectorOf: (set) => selectorOfMap(set.spec.selector as Record<string, string> | undefined),
  });
}

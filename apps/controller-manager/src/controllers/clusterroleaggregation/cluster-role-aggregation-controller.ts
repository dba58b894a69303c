import { apiVersionOf, ClusterRoles } from '@tinkernetes/api';
import { ignoreNotFound, semanticEqual } from '@tinkernetes/apimachinery';
import type { Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { aggregateRules } from './aggregate-rules';

const fieldManager = 'clusterrole-aggregation-controller';

/**
 * Fills ClusterRoles such as admin, edit and view from the roles that they aggregate. Watches and writes ClusterRoles.
 * Source: k8s.io/kubernetes/pkg/controller/clusterroleaggregation.
 */
export function startClusterRoleAggregationController(context: ControllerContext): RunnableController {
  const { client, informers } = context;
  const queue = context.queues.create('ClusterRoleAggregator');
  const roles = informers.for(ClusterRoles);
  const enqueueAll = () => {
    for (const role of roles.lister.list()) if (role.aggregationRule) queue.add(role.metadata.name);
  };
  roles.addEventHandler({ added: enqueueAll, updated: enqueueAll, deleted: enqueueAll });
  const reconciler: Reconciler = {
    name: 'clusterrole-aggregation-controller',
    async reconcile(name, { signal }) {
      const role = roles.lister.get(name);
      if (!role?.aggregationRule) return;
      const rules = aggregateRules(role, roles.lister.list());
      if (semanticEqual(role.rules, rules)) return;
      // Applied, as upstream does: the rules are this controller's field, whoever wrote them before.
      const applied = {
        apiVersion: apiVersionOf(ClusterRoles),
        kind: ClusterRoles.kind,
        metadata: { name },
        rules,
      };
      await client
        .for(ClusterRoles)
        .patch(name, applied, { type: 'apply', fieldManager, force: true, signal })
        .catch(ignoreNotFound);
    },
  };
  return queueController({ context, queue, reconciler, concurrency: 5 });
}

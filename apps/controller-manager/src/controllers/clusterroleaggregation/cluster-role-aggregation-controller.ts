import { ClusterRoles, type ClusterRole, type PolicyRule } from '@tinkernetes/api';
import { selectorOf, semanticEqual } from '@tinkernetes/apimachinery';
import type { Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { canonicalContent } from '../shared/content-hash';

/** The rules of all roles that the aggregation rule selects, by the roles' names, each rule once. */
function aggregateRules(role: ClusterRole, all: readonly ClusterRole[]): PolicyRule[] {
  const selectors = (role.aggregationRule?.clusterRoleSelectors ?? []).map(selectorOf);
  const rules = new Map<string, PolicyRule>();
  for (const selector of selectors) {
    const members = all
      .filter((r) => r.metadata.name !== role.metadata.name && selector.matches(r.metadata.labels))
      .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    for (const rule of members.flatMap((r) => r.rules ?? [])) rules.set(canonicalContent(rule), rule);
  }
  return [...rules.values()];
}

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
      await client.for(ClusterRoles).update({ ...role, rules }, { signal });
    },
  };
  return queueController({ context, queue, reconciler, concurrency: 5 });
}

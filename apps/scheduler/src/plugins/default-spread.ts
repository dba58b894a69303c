import {
  ReplicaSets,
  ReplicationControllers,
  Services,
  StatefulSets,
  type LabelSelector,
  type Pod,
  type TopologySpreadConstraint,
} from '@tinkernetes/api';
import { controllerOf, selectorOfMap } from '@tinkernetes/apimachinery';
import type { Handle } from '../framework/types';

type Constraint = Omit<TopologySpreadConstraint, 'labelSelector'>;

/** What spreads Pods that say nothing: gently over nodes, and over zones. */
export const systemDefaultConstraints: readonly Constraint[] = [
  { topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 3 },
  { topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 5 },
];

/**
 * Finds what belongs together with a Pod: the selectors of its Services and of its controller; undefined: nothing.
 * Source: pkg/scheduler/framework/plugins/helper.DefaultSelector.
 */
export function createDefaultSelector({ informers }: Handle): (pod: Pod) => LabelSelector | undefined {
  const services = informers.for(Services).lister;
  const replicaSets = informers.for(ReplicaSets).lister;
  const statefulSets = informers.for(StatefulSets).lister;
  const replicationControllers = informers.for(ReplicationControllers).lister;
  const ownerSelector = (pod: Pod): LabelSelector | undefined => {
    const owner = controllerOf(pod);
    const { namespace } = pod.metadata;
    switch (owner?.kind) {
      case 'ReplicaSet':
        return replicaSets.get(owner.name, namespace)?.spec?.selector;
      case 'StatefulSet':
        return statefulSets.get(owner.name, namespace)?.spec?.selector;
      case 'ReplicationController':
        return { matchLabels: replicationControllers.get(owner.name, namespace)?.spec?.selector };
      default:
        return undefined;
    }
  };
  return (pod) => {
    const labels = pod.metadata.labels ?? {};
    const matchLabels: Record<string, string> = {};
    for (const { spec } of services.list(pod.metadata.namespace)) {
      if (spec?.selector && selectorOfMap(spec.selector).matches(labels))
        Object.assign(matchLabels, spec.selector);
    }
    const own = ownerSelector(pod);
    Object.assign(matchLabels, own?.matchLabels);
    const matchExpressions = own?.matchExpressions ?? [];
    if (Object.keys(matchLabels).length === 0 && matchExpressions.length === 0) return undefined;
    return { matchLabels, matchExpressions };
  };
}

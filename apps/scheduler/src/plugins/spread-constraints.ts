import type { Pod, TopologySpreadConstraint } from '@tinkernetes/api';
import {
  findUntoleratedTaint,
  requiredNodeAffinityMatches,
  selectorOf,
  type Selector,
} from '@tinkernetes/apimachinery';
import type { NodeInfo } from '../cache/node-info';

/** A topology spread constraint, ready to be used. */
export interface SpreadConstraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly selector: Selector;
  readonly minDomains: number;
  readonly honorsAffinity: boolean;
  readonly honorsTaints: boolean;
}
type Action = TopologySpreadConstraint['whenUnsatisfiable'];

export function parseConstraint(constraint: TopologySpreadConstraint, pod: Pod): SpreadConstraint {
  const { labelSelector, matchLabelKeys = [], maxSkew, topologyKey, minDomains = 1 } = constraint;
  const labels = pod.metadata.labels ?? {};
  const own = matchLabelKeys.flatMap((key) => {
    const value = labels[key];
    return value === undefined ? [] : [{ key, operator: 'In' as const, values: [value] }];
  });
  const matchExpressions = [...(labelSelector?.matchExpressions ?? []), ...own];
  return {
    maxSkew,
    topologyKey,
    minDomains,
    selector: selectorOf(labelSelector && { ...labelSelector, matchExpressions }),
    honorsAffinity: (constraint.nodeAffinityPolicy ?? 'Honor') === 'Honor',
    honorsTaints: (constraint.nodeTaintsPolicy ?? 'Ignore') === 'Honor',
  };
}

export const constraintsOf = (pod: Pod, action: Action): SpreadConstraint[] =>
  (pod.spec?.topologySpreadConstraints ?? [])
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === action)
    .map((constraint) => parseConstraint(constraint, pod));

/** Whether the node's Pods count for the constraint. */
export function isIncluded(
  { honorsAffinity, honorsTaints }: SpreadConstraint,
  pod: Pod,
  { node }: NodeInfo,
): boolean {
  if (honorsAffinity && !requiredNodeAffinityMatches(pod, node)) return false;
  return !honorsTaints || !findUntoleratedTaint(node.spec?.taints, pod.spec?.tolerations);
}

export const hasAllKeys = (constraints: readonly SpreadConstraint[], { labels }: NodeInfo): boolean =>
  constraints.every(({ topologyKey }) => labels[topologyKey] !== undefined);

/** Pods that are going away make room already. */
export const isCounted = ({ selector }: SpreadConstraint, pod: Pod, namespace: string | undefined): boolean =>
  pod.metadata.namespace === namespace &&
  !pod.metadata.deletionTimestamp &&
  selector.matches(pod.metadata.labels ?? {});

export const countPods = (
  constraint: SpreadConstraint,
  node: NodeInfo,
  namespace: string | undefined,
): number => node.pods.reduce((sum, { pod }) => sum + (isCounted(constraint, pod, namespace) ? 1 : 0), 0);

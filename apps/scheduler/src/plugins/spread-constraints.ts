import type { Pod, TopologySpreadConstraint } from '@tinkernetes/api';
import {
  findUntoleratedTaint,
  requiredNodeAffinityMatches,
  selectorOf,
  type Selector,
} from '@tinkernetes/apimachinery';
import type { NodeInfo } from '../cache/node-info';
import type { PodIndex } from '../cache/pod-index';
import type { PodKind } from '../cache/pod-kind';

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

/** Whether every node counts: the Pod may go to all of them, as far as the constraints look at that. */
export function includesAllNodes(
  constraints: readonly SpreadConstraint[],
  { spec }: Pod,
  index: PodIndex,
): boolean {
  const mayBeAnywhere =
    !spec?.nodeSelector && !spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return constraints.every(
    ({ topologyKey, honorsAffinity, honorsTaints }) =>
      (mayBeAnywhere || !honorsAffinity) && !honorsTaints && index.domainsOf(topologyKey).missing === 0,
  );
}

/** Pods that are going away make room already. */
export const isCounted = ({ selector }: SpreadConstraint, kind: PodKind, namespace: string): boolean =>
  kind.namespace === namespace && !kind.isLeaving && selector.matches(kind.labels);

export function countPods(constraint: SpreadConstraint, node: NodeInfo, namespace: string): number {
  let count = 0;
  for (const { kind } of node.pods) if (isCounted(constraint, kind, namespace)) count++;
  return count;
}

/** Matching Pods in every domain, all nodes counted. */
export function countEverywhere(
  constraint: SpreadConstraint,
  namespace: string,
  index: PodIndex,
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const domain of index.domainsOf(constraint.topologyKey).sizes.keys()) counts.set(domain, 0);
  for (const kind of index.kinds) {
    if (!isCounted(constraint, kind, namespace)) continue;
    for (const [domain, pods] of index.countsOf(kind, constraint.topologyKey))
      counts.set(domain, (counts.get(domain) ?? 0) + pods);
  }
  return counts;
}

import type { Pod } from '@tinkernetes/api';
import type { NodeInfo } from '../cache/node-info';
import type { Snapshot } from '../cache/snapshot';
import type { StateData } from '../framework/cycle-state';
import { maxNodeScore, type NodeScore } from '../framework/types';
import {
  countEverywhere,
  countPods,
  hasAllKeys,
  includesAllNodes,
  isIncluded,
  type SpreadConstraint,
} from './spread-constraints';

const hostname = 'kubernetes.io/hostname';

export interface SpreadScoreOptions {
  pod: Pod;
  constraints: readonly SpreadConstraint[];
  /** Nodes to be scored. */
  nodes: readonly NodeInfo[];
  /** Whose Pods count. */
  snapshot: Snapshot;
  /** Nodes that lack one of the topology keys score 0. */
  requireAllKeys: boolean;
}

/** Many matching Pods in a node's domains give it a low score. Source: podtopologyspread/scoring.go. */
export class SpreadScore implements StateData {
  constructor(
    private readonly constraints: readonly SpreadConstraint[],
    /** Matching Pods by domain, for each constraint but those on the host name. */
    private readonly counts: readonly ReadonlyMap<string, number>[],
    private readonly weights: readonly number[],
    private readonly ignored: ReadonlySet<string>,
  ) {}

  clone(): SpreadScore {
    return this;
  }

  score(pod: Pod, node: NodeInfo): number {
    if (this.ignored.has(node.name)) return 0;
    let score = 0;
    this.constraints.forEach((constraint, i) => {
      const domain = node.labels[constraint.topologyKey];
      if (domain === undefined) return;
      const isHost = constraint.topologyKey === hostname;
      const count = isHost
        ? countPods(constraint, node, pod.metadata.namespace ?? '')
        : (this.counts[i]?.get(domain) ?? 0);
      score += count * (this.weights[i] ?? 0) + (constraint.maxSkew - 1);
    });
    return Math.round(score);
  }

  normalize(scores: NodeScore[]): void {
    const counting = scores.filter(({ node }) => !this.ignored.has(node)).map(({ score }) => score);
    const highest = Math.max(0, ...counting);
    const lowest = counting.length > 0 ? Math.min(...counting) : 0;
    for (const entry of scores) {
      if (this.ignored.has(entry.node)) entry.score = 0;
      else if (highest === 0) entry.score = maxNodeScore;
      else entry.score = Math.trunc((maxNodeScore * (highest + lowest - entry.score)) / highest);
    }
  }
}

export function createSpreadScore({
  pod,
  constraints,
  nodes,
  snapshot,
  requireAllKeys,
}: SpreadScoreOptions): SpreadScore {
  const isScored = (node: NodeInfo) => !requireAllKeys || hasAllKeys(constraints, node);
  const scored = nodes.filter(isScored);
  const ignored = new Set(nodes.filter((node) => !isScored(node)).map(({ name }) => name));
  const counts = constraints.map((constraint) => {
    const domains = new Map<string, number>();
    if (constraint.topologyKey === hostname) return domains;
    for (const { labels } of scored) {
      const domain = labels[constraint.topologyKey];
      if (domain !== undefined) domains.set(domain, 0);
    }
    return domains;
  });
  // The more domains, the fewer Pods in each: weights make constraints comparable.
  const weights = constraints.map(({ topologyKey }, i) => {
    const size = topologyKey === hostname ? scored.length : (counts[i]?.size ?? 0);
    return Math.log(size + 2);
  });
  const countNodes = includesAllNodes(constraints, pod, snapshot.index) ? countByIndex : countByNode;
  countNodes(counts, { pod, constraints, snapshot, requireAllKeys });
  return new SpreadScore(constraints, counts, weights, ignored);
}

type Counted = Pick<SpreadScoreOptions, 'pod' | 'constraints' | 'snapshot' | 'requireAllKeys'>;

/** Every node counts. */
function countByIndex(counts: readonly Map<string, number>[], { pod, constraints, snapshot }: Counted): void {
  constraints.forEach((constraint, i) => {
    if (constraint.topologyKey === hostname) return;
    const everywhere = countEverywhere(constraint, pod.metadata.namespace ?? '', snapshot.index);
    for (const domain of counts[i]?.keys() ?? []) counts[i]?.set(domain, everywhere.get(domain) ?? 0);
  });
}

/** Nodes that the Pod may not go to, or that lack a key, don't count. */
function countByNode(
  counts: readonly Map<string, number>[],
  { pod, constraints, snapshot, requireAllKeys }: Counted,
): void {
  for (const node of snapshot.nodes) {
    if (requireAllKeys && !hasAllKeys(constraints, node)) continue;
    constraints.forEach((constraint, i) => {
      const domain = node.labels[constraint.topologyKey];
      const before = domain === undefined ? undefined : counts[i]?.get(domain);
      if (domain === undefined || before === undefined || !isIncluded(constraint, pod, node)) return;
      counts[i]?.set(domain, before + countPods(constraint, node, pod.metadata.namespace ?? ''));
    });
  }
}

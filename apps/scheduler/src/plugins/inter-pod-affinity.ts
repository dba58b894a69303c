import { Namespaces, type Pod } from '@tinkernetes/api';
import { termMatches, type AffinityTerm } from '../cache/affinity-terms';
import type { NodeInfo } from '../cache/node-info';
import { podInfoOf, type PodInfo } from '../cache/pod-info';
import type { Snapshot } from '../cache/snapshot';
import type { ClusterEvent } from '../framework/cluster-event';
import type { StateData } from '../framework/cycle-state';
import { skip, unresolvable, unschedulable } from '../framework/status';
import { maxNodeScore, type Handle, type NodeScore, type PluginFactory } from '../framework/types';
import { TopologyCounts } from './topology-counts';

const name = 'InterPodAffinity';
const filterKey = `PreFilter${name}`;
const scoreKey = `PreScore${name}`;

type NamespaceLabels = (namespace: string) => Readonly<Record<string, string>>;

class FilterState implements StateData {
  constructor(
    /** Pods whose own anti-affinity forbids the Pod, by topology. */
    readonly forbidding: TopologyCounts,
    /** Pods that match all of the Pod's affinity terms. */
    readonly wanted: TopologyCounts,
    /** Pods that match one of its anti-affinity terms. */
    readonly unwanted: TopologyCounts,
  ) {}

  clone(): FilterState {
    return new FilterState(this.forbidding.clone(), this.wanted.clone(), this.unwanted.clone());
  }
}

class ScoreState implements StateData {
  readonly scores = new TopologyCounts();

  clone(): ScoreState {
    return this;
  }
}

interface Args {
  hardPodAffinityWeight?: number;
  ignorePreferredTermsOfExistingPods?: boolean;
}

/**
 * Pods that want to be near to, or far from, others: required terms filter (those of Pods that run already, too),
 * preferred ones score.
 */
export const interPodAffinity: PluginFactory = {
  name,
  create(args, handle) {
    const labelsOf = namespaceLabels(handle);
    const { hardPodAffinityWeight = 1, ignorePreferredTermsOfExistingPods = false } = args as Args;
    const mayHelp = (pod: Pod, { before, after }: ClusterEvent) => {
      const { required, requiredAnti } = podInfoOf(pod).affinity;
      const changed = [before, after].filter((other): other is Pod => other !== undefined);
      return changed.some(
        (other) =>
          required.every((term) => termMatches(term, other, labelsOf)) ||
          requiredAnti.some((term) => termMatches(term, other, labelsOf)) ||
          podInfoOf(other).affinity.requiredAnti.some((term) => termMatches(term, pod, labelsOf)),
      );
    };
    return {
      name,
      events: [
        { resource: 'AssignedPod', actions: ['Add', 'Delete', 'UpdatePodLabel'], hint: mayHelp },
        { resource: 'Node', actions: ['Add', 'UpdateNodeLabel'] },
      ],
      preFilter(state, pod, snapshot) {
        const filterState = filterStateOf(pod, snapshot, labelsOf);
        const { required, requiredAnti } = podInfoOf(pod).affinity;
        if (filterState.forbidding.isEmpty && required.length === 0 && requiredAnti.length === 0)
          return { status: skip };
        state.write(filterKey, filterState);
        return undefined;
      },
      addPod(state, pod, { added, node }) {
        const counts = state.read<FilterState>(filterKey);
        if (counts) count(counts, { pod, other: added, node, by: 1, labelsOf });
      },
      removePod(state, pod, { removed, node }) {
        const counts = state.read<FilterState>(filterKey);
        if (counts) count(counts, { pod, other: removed, node, by: -1, labelsOf });
      },
      filter(state, pod, node) {
        const counts = state.read<FilterState>(filterKey);
        if (!counts) return undefined;
        if (!satisfiesAffinity(counts, pod, node, labelsOf))
          return unresolvable("node(s) didn't match pod affinity rules");
        if (
          podInfoOf(pod).affinity.requiredAnti.some(({ topologyKey }) =>
            has(counts.unwanted, topologyKey, node),
          )
        )
          return unschedulable("node(s) didn't match pod anti-affinity rules");
        if (Object.entries(node.labels).some(([key, value]) => counts.forbidding.get(key, value) > 0))
          return unschedulable("node(s) didn't satisfy existing pods anti-affinity rules");
        return undefined;
      },
      preScore(state, pod) {
        const { preferred, preferredAnti } = podInfoOf(pod).affinity;
        const hasOwn = preferred.length > 0 || preferredAnti.length > 0;
        if (ignorePreferredTermsOfExistingPods && !hasOwn) return skip;
        const snapshot = handle.snapshot();
        const scoreState = new ScoreState();
        for (const node of hasOwn ? snapshot.nodes : snapshot.withAffinity) {
          for (const other of hasOwn ? node.pods : node.podsWithAffinity)
            addPreferences(scoreState.scores, { pod, other, node, labelsOf, hardPodAffinityWeight });
        }
        if (scoreState.scores.isEmpty) return skip;
        state.write(scoreKey, scoreState);
        return undefined;
      },
      score(state, _pod, node) {
        const scores = state.read<ScoreState>(scoreKey)?.scores;
        if (!scores) return 0;
        return Object.entries(node.labels).reduce((sum, [key, value]) => sum + scores.get(key, value), 0);
      },
      normalizeScore: (_state, _pod, scores) => stretch(scores),
    };
  },
};

function namespaceLabels({ informers }: Handle): NamespaceLabels {
  const { lister } = informers.for(Namespaces);
  return (namespace) => lister.get(namespace)?.metadata.labels ?? {};
}

function filterStateOf(pod: Pod, snapshot: Snapshot, labelsOf: NamespaceLabels): FilterState {
  const state = new FilterState(new TopologyCounts(), new TopologyCounts(), new TopologyCounts());
  const { required, requiredAnti } = podInfoOf(pod).affinity;
  const needsAll = required.length > 0 || requiredAnti.length > 0;
  for (const node of needsAll ? snapshot.nodes : snapshot.withRequiredAntiAffinity) {
    for (const other of needsAll ? node.pods : node.podsWithRequiredAntiAffinity)
      count(state, { pod, other, node, by: 1, labelsOf });
  }
  return state;
}

interface Counting {
  pod: Pod;
  other: PodInfo;
  node: NodeInfo;
  by: 1 | -1;
  labelsOf: NamespaceLabels;
}

/** Counts another Pod on a node in, or out again. */
function count(state: FilterState, { pod, other, node, by, labelsOf }: Counting): void {
  const { required, requiredAnti } = podInfoOf(pod).affinity;
  for (const term of other.affinity.requiredAnti) {
    if (termMatches(term, pod, labelsOf))
      state.forbidding.add(term.topologyKey, node.labels[term.topologyKey], by);
  }
  if (required.length > 0 && required.every((term) => termMatches(term, other.pod, labelsOf))) {
    for (const { topologyKey } of required) state.wanted.add(topologyKey, node.labels[topologyKey], by);
  }
  for (const term of requiredAnti) {
    if (termMatches(term, other.pod, labelsOf))
      state.unwanted.add(term.topologyKey, node.labels[term.topologyKey], by);
  }
}

const has = (counts: TopologyCounts, key: string, { labels }: NodeInfo): boolean => {
  const value = labels[key];
  return value !== undefined && counts.get(key, value) > 0;
};

function satisfiesAffinity(
  { wanted }: FilterState,
  pod: Pod,
  node: NodeInfo,
  labelsOf: NamespaceLabels,
): boolean {
  const { required } = podInfoOf(pod).affinity;
  if (required.some(({ topologyKey }) => node.labels[topologyKey] === undefined)) return false;
  if (required.every(({ topologyKey }) => has(wanted, topologyKey, node))) return true;
  // The first Pod of a group that wants to be together has nobody to join yet.
  return wanted.isEmpty && required.every((term) => termMatches(term, pod, labelsOf));
}

interface Preferring {
  pod: Pod;
  other: PodInfo;
  node: NodeInfo;
  labelsOf: NamespaceLabels;
  hardPodAffinityWeight: number;
}

/** What the two Pods prefer about each other, credited to the other's topologies. */
function addPreferences(
  scores: TopologyCounts,
  { pod, other, node, labelsOf, hardPodAffinityWeight }: Preferring,
): void {
  const own = podInfoOf(pod).affinity;
  const credit = (term: AffinityTerm, target: Pod, weight: number) => {
    if (termMatches(term, target, labelsOf))
      scores.add(term.topologyKey, node.labels[term.topologyKey], weight);
  };
  for (const term of own.preferred) credit(term, other.pod, term.weight);
  for (const term of own.preferredAnti) credit(term, other.pod, -term.weight);
  for (const term of other.affinity.required) credit(term, pod, hardPodAffinityWeight);
  for (const term of other.affinity.preferred) credit(term, pod, term.weight);
  for (const term of other.affinity.preferredAnti) credit(term, pod, -term.weight);
}

/** From the lowest to the highest, to 0…100. */
function stretch(scores: NodeScore[]): void {
  const lowest = Math.min(...scores.map(({ score }) => score));
  const span = Math.max(...scores.map(({ score }) => score)) - lowest;
  for (const entry of scores)
    entry.score = span > 0 ? Math.trunc((maxNodeScore * (entry.score - lowest)) / span) : 0;
}

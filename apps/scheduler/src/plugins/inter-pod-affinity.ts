import { Namespaces, type Pod } from '@tinkernetes/api';
import { termMatches, type AffinityTerm } from '../cache/affinity-terms';
import type { NodeInfo } from '../cache/node-info';
import { podInfoOf, type PodInfo } from '../cache/pod-info';
import type { PodKind } from '../cache/pod-kind';
import type { Snapshot } from '../cache/snapshot';
import type { ClusterEvent } from '../framework/cluster-event';
import type { StateData } from '../framework/cycle-state';
import { skip, unresolvable, unschedulable } from '../framework/status';
import { maxNodeScore, type Handle, type NodeScore, type PluginFactory } from '../framework/types';
import { TopologyCounts } from './topology-counts';

const name = 'InterPodAffinity';
const filterKey = `PreFilter${name}`;
const scoreKey = `PreScore${name}`;

const refusals = {
  affinity: { ...unresolvable("node(s) didn't match pod affinity rules"), plugin: name },
  antiAffinity: { ...unschedulable("node(s) didn't match pod anti-affinity rules"), plugin: name },
  othersAntiAffinity: {
    ...unschedulable("node(s) didn't satisfy existing pods anti-affinity rules"),
    plugin: name,
  },
};

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
      const changed = [before, after].flatMap((other) => (other ? [podInfoOf(other as Pod).kind] : []));
      return changed.some(
        (other) =>
          required.every((term) => termMatches(term, other, labelsOf)) ||
          requiredAnti.some((term) => termMatches(term, other, labelsOf)) ||
          other.affinity.requiredAnti.some((term) => termMatches(term, podInfoOf(pod).kind, labelsOf)),
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
        if (!satisfiesAffinity(counts, pod, node, labelsOf)) return refusals.affinity;
        if (
          podInfoOf(pod).affinity.requiredAnti.some(({ topologyKey }) =>
            has(counts.unwanted, topologyKey, node),
          )
        )
          return refusals.antiAffinity;
        if (counts.forbidding.isOn(node.labels)) return refusals.othersAntiAffinity;
        return undefined;
      },
      preScore(state, pod) {
        const { preferred, preferredAnti } = podInfoOf(pod).affinity;
        const hasOwn = preferred.length > 0 || preferredAnti.length > 0;
        if (ignorePreferredTermsOfExistingPods && !hasOwn) return skip;
        const { index } = handle.snapshot();
        const scoreState = new ScoreState();
        for (const other of index.kinds) {
          const own = podInfoOf(pod).kind;
          for (const [key, weight] of preferences(own, other, { labelsOf, hardPodAffinityWeight }))
            scoreState.scores.addAll(key, index.countsOf(other, key), weight);
        }
        if (scoreState.scores.isEmpty) return skip;
        state.write(scoreKey, scoreState);
        return undefined;
      },
      score(state, _pod, node) {
        return state.read<ScoreState>(scoreKey)?.scores.sumOn(node.labels) ?? 0;
      },
      normalizeScore: (_state, _pod, scores) => stretch(scores),
    };
  },
};

function namespaceLabels({ informers }: Handle): NamespaceLabels {
  const { lister } = informers.for(Namespaces);
  return (namespace) => lister.get(namespace)?.metadata.labels ?? {};
}

function filterStateOf(pod: Pod, { index }: Snapshot, labelsOf: NamespaceLabels): FilterState {
  const state = new FilterState(new TopologyCounts(), new TopologyCounts(), new TopologyCounts());
  const own = podInfoOf(pod).kind;
  for (const other of index.kinds)
    relate(own, other, labelsOf, (counts, key) => state[counts].addAll(key, index.countsOf(other, key)));
  return state;
}

type Relation = 'forbidding' | 'wanted' | 'unwanted';

/** Tells, for each term that links a Pod with others of a kind, in which topology it does. */
function relate(
  own: PodKind,
  other: PodKind,
  labelsOf: NamespaceLabels,
  tell: (relation: Relation, topologyKey: string) => void,
): void {
  const { required, requiredAnti } = own.affinity;
  for (const term of other.affinity.requiredAnti)
    if (termMatches(term, own, labelsOf)) tell('forbidding', term.topologyKey);
  if (required.length > 0 && required.every((term) => termMatches(term, other, labelsOf)))
    for (const { topologyKey } of required) tell('wanted', topologyKey);
  for (const term of requiredAnti) if (termMatches(term, other, labelsOf)) tell('unwanted', term.topologyKey);
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
  relate(podInfoOf(pod).kind, other.kind, labelsOf, (counts, key) =>
    state[counts].add(key, node.labels[key], by),
  );
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
  return wanted.isEmpty && required.every((term) => termMatches(term, podInfoOf(pod).kind, labelsOf));
}

/** What a Pod and others of a kind prefer about each other: weights by topology key. */
function preferences(
  own: PodKind,
  other: PodKind,
  { labelsOf, hardPodAffinityWeight }: { labelsOf: NamespaceLabels; hardPodAffinityWeight: number },
): Map<string, number> {
  const weights = new Map<string, number>();
  const credit = (term: AffinityTerm, target: PodKind, weight: number) => {
    if (termMatches(term, target, labelsOf))
      weights.set(term.topologyKey, (weights.get(term.topologyKey) ?? 0) + weight);
  };
  for (const term of own.affinity.preferred) credit(term, other, term.weight);
  for (const term of own.affinity.preferredAnti) credit(term, other, -term.weight);
  for (const term of other.affinity.required) credit(term, own, hardPodAffinityWeight);
  for (const term of other.affinity.preferred) credit(term, own, term.weight);
  for (const term of other.affinity.preferredAnti) credit(term, own, -term.weight);
  return weights;
}

/** From the lowest to the highest, to 0…100. */
function stretch(scores: NodeScore[]): void {
  let lowest = Infinity;
  let highest = -Infinity;
  for (const { score } of scores) {
    lowest = Math.min(lowest, score);
    highest = Math.max(highest, score);
  }
  const span = highest - lowest;
  for (const entry of scores)
    entry.score = span > 0 ? Math.trunc((maxNodeScore * (entry.score - lowest)) / span) : 0;
}

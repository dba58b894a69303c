import type { Pod } from '@tinkernetes/api';
import type { Random } from '@tinkernetes/component-base';
import type { NodeInfo } from '../cache/node-info';
import type { Snapshot } from '../cache/snapshot';
import type { Extenders } from '../extenders/consult';
import type { CycleState } from '../framework/cycle-state';
import type { Framework, PreFilterOutcome, ScoreTable } from '../framework/framework';
import { unresolvable, unschedulable } from '../framework/status';
import type { Diagnosis } from '../framework/types';

export type Placement =
  | {
      kind: 'found';
      node: string;
      evaluated: number;
      feasible: number;
      scores: ScoreTable | undefined;
      diagnosis: Diagnosis;
    }
  | { kind: 'unschedulable'; diagnosis: Diagnosis };

export interface FindNodeOptions {
  framework: Framework;
  snapshot: Snapshot;
  random: Random;
  /** 0: adaptive. */
  percentageOfNodesToScore: number;
  /** Where the last search stopped: the next one begins there, so that all nodes get their turn. */
  startIndex: { value: number };
  /** Told when filtering ends and scoring begins. */
  onFiltered?(feasible: number): void;
}

const minFeasible = 100;
const minPercentage = 5;

/** How many fitting nodes are enough. Source: schedule_one.go, numFeasibleNodesToFind. */
function enoughNodes(count: number, percentage: number): number {
  if (count < minFeasible) return count;
  const chosen = percentage || Math.max(minPercentage, 50 - Math.trunc(count / 125));
  return Math.max(minFeasible, Math.trunc((count * chosen) / 100));
}

export const newDiagnosis = (): Diagnosis => ({
  statuses: new Map(),
  absentStatus: unschedulable(),
  unschedulablePlugins: new Set(),
  pendingPlugins: new Set(),
});

/** One Pod's search for a node: filter, then score. Throws when a plugin fails. */
export function findNode(state: CycleState, pod: Pod, options: FindNodeOptions): Placement {
  const search = startSearch(state, pod, options);
  if ('kind' in search) return search;
  const nominated = nominatedNode(state, pod, options);
  const feasible = nominated ? [nominated] : passingNodes(state, pod, search);
  const chosen = settle(search, feasible);
  if (chosen) return chosen;
  const scores = options.framework.score(state, pod, feasible);
  return found(search, feasible, { node: selectNode(scores, options.random), scores });
}

/** The same, with services outside of the scheduler asked, too. Throws also when one of them fails. */
export async function findNodeWithExtenders(
  state: CycleState,
  pod: Pod,
  options: FindNodeOptions & { extenders: Extenders },
): Promise<Placement> {
  const { extenders, framework, random } = options;
  const search = startSearch(state, pod, options);
  if ('kind' in search) return search;
  const nominated = nominatedNode(state, pod, options);
  let feasible = nominated ? await extenders.filter(pod, [nominated], search.diagnosis) : [];
  if (feasible.length === 0)
    feasible = await extenders.filter(pod, passingNodes(state, pod, search), search.diagnosis);
  const chosen = settle(search, feasible);
  if (chosen) return chosen;
  const scores = framework.score(state, pod, feasible);
  await extenders.score(pod, feasible, scores);
  return found(search, feasible, { node: selectNode(scores, random), scores });
}

type NarrowedNodes = Extract<PreFilterOutcome, { kind: 'nodes' }>;
type Search = FindNodeOptions & { diagnosis: Diagnosis; preFiltered: NarrowedNodes };

/** Asks PreFilter, which may end the search. */
function startSearch(state: CycleState, pod: Pod, options: FindNodeOptions): Search | Placement {
  const { framework, snapshot } = options;
  const diagnosis = newDiagnosis();
  const preFiltered = framework.preFilter(state, pod, snapshot);
  if (preFiltered.kind === 'nodes') return { ...options, diagnosis, preFiltered };
  const { status } = preFiltered;
  if (status.code === 'Error') throw new Error(status.reasons.join(', '));
  diagnosis.preFilterMessage = status.reasons.join(', ');
  for (const { name } of snapshot.nodes) diagnosis.statuses.set(name, status);
  note(diagnosis, status.plugin, status.code === 'Pending');
  return { kind: 'unschedulable', diagnosis };
}

/** A choice that needs no scores; undefined: there are several nodes. */
function settle(search: Search, feasible: readonly NodeInfo[]): Placement | undefined {
  search.onFiltered?.(feasible.length);
  const [first] = feasible;
  if (!first) return { kind: 'unschedulable', diagnosis: search.diagnosis };
  return feasible.length === 1 ? found(search, feasible, { node: first.name, scores: undefined }) : undefined;
}

const found = (
  { diagnosis }: Search,
  feasible: readonly NodeInfo[],
  choice: { node: string; scores: ScoreTable | undefined },
): Placement => ({
  kind: 'found',
  ...choice,
  evaluated: feasible.length + diagnosis.statuses.size,
  feasible: feasible.length,
  diagnosis,
});

/** Nodes that pass all filters: as many as are enough. */
function passingNodes(state: CycleState, pod: Pod, search: Search): NodeInfo[] {
  return search.framework.filterAll(
    () => filterNodes(state, pod, search),
    (passing) => (passing.length > 0 ? undefined : unschedulable()),
  );
}

function filterNodes(state: CycleState, pod: Pod, options: Search): NodeInfo[] {
  const { framework, snapshot, diagnosis, startIndex } = options;
  const { nodes: only, narrowedBy } = options.preFiltered;
  const nodes = only ? snapshot.nodes.filter(({ name }) => only.has(name)) : snapshot.nodes;
  if (only) {
    const excluded = unresolvable(`node(s) didn't satisfy plugin(s) [${narrowedBy.join(' ')}]`);
    for (const { name } of snapshot.nodes) if (!only.has(name)) diagnosis.statuses.set(name, excluded);
    for (const plugin of narrowedBy) note(diagnosis, plugin, false);
  }
  const enough = enoughNodes(nodes.length, options.percentageOfNodesToScore);
  const found: NodeInfo[] = [];
  let looked = 0;
  for (; looked < nodes.length && found.length < enough; looked++) {
    const node = nodes[(startIndex.value + looked) % nodes.length];
    if (!node) continue;
    const status = framework.filterWithNominatedPods(state, pod, node);
    if (!status) {
      found.push(node);
      continue;
    }
    if (status.code === 'Error') throw new Error(`${status.plugin ?? ''}: ${status.reasons.join(', ')}`);
    diagnosis.statuses.set(node.name, status);
    note(diagnosis, status.plugin, status.code === 'Pending');
  }
  if (nodes.length > 0) startIndex.value = (startIndex.value + looked) % nodes.length;
  return found;
}

/** A node that preemption has made room on is tried before all others. */
function nominatedNode(state: CycleState, pod: Pod, options: FindNodeOptions): NodeInfo | undefined {
  const name = pod.status?.nominatedNodeName;
  const node = name ? options.snapshot.get(name) : undefined;
  if (!node) return undefined;
  return options.framework.filterWithNominatedPods(state, pod, node) ? undefined : node;
}

function note(diagnosis: Diagnosis, plugin: string | undefined, isPending: boolean): void {
  if (plugin === undefined) return;
  (isPending ? diagnosis.pendingPlugins : diagnosis.unschedulablePlugins).add(plugin);
}

/** One of the best, by chance. */
function selectNode({ nodes, totals }: ScoreTable, random: Random): string {
  let best: string[] = [];
  let highest = -Infinity;
  totals.forEach((total, i) => {
    if (total > highest) best = [];
    highest = Math.max(highest, total);
    if (total === highest) best.push(nodes[i] ?? '');
  });
  return best[Math.floor(random.next() * best.length)] ?? '';
}

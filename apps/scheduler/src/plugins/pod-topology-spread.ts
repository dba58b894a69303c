import type { Pod, TopologySpreadConstraint } from '@tinkernetes/api';
import type { NodeInfo } from '../cache/node-info';
import { podInfoOf, type PodInfo } from '../cache/pod-info';
import type { Snapshot } from '../cache/snapshot';
import type { StateData } from '../framework/cycle-state';
import { skip, unresolvable, unschedulable } from '../framework/status';
import { type Handle, type PluginFactory } from '../framework/types';
import { createDefaultSelector, systemDefaultConstraints } from './default-spread';
import {
  constraintsOf,
  countEverywhere,
  countPods,
  hasAllKeys,
  includesAllNodes,
  isCounted,
  isIncluded,
  parseConstraint,
  type SpreadConstraint,
} from './spread-constraints';
import { createSpreadScore, type SpreadScore } from './spread-score';

const name = 'PodTopologySpread';
const filterKey = `PreFilter${name}`;
const scoreKey = `PreScore${name}`;
const reason = "node(s) didn't match pod topology spread constraints";
const missingLabel = { ...unresolvable(`${reason} (missing required label)`), plugin: name };
const tooUneven = { ...unschedulable(reason), plugin: name };

/** Matching Pods by domain, for each constraint. */
class FilterState implements StateData {
  /** The fewest of each constraint, while counts don't change. */
  private readonly minimums: (number | undefined)[] = [];

  constructor(
    readonly constraints: readonly SpreadConstraint[],
    private readonly counts: readonly Map<string, number>[],
  ) {}

  clone(): FilterState {
    return new FilterState(
      this.constraints,
      this.counts.map((domains) => new Map(domains)),
    );
  }

  count(index: number, domain: string): number {
    return this.counts[index]?.get(domain) ?? 0;
  }

  add(index: number, domain: string, by: number): void {
    this.counts[index]?.set(domain, this.count(index, domain) + by);
    this.minimums[index] = undefined;
  }

  /** Of the domain with the fewest; 0 while there are fewer domains than asked for. */
  fewest(index: number): number {
    return (this.minimums[index] ??= this.computeFewest(index));
  }

  private computeFewest(index: number): number {
    const domains = this.counts[index] ?? new Map<string, number>();
    if (domains.size < (this.constraints[index]?.minDomains ?? 1)) return 0;
    let fewest = Infinity;
    for (const count of domains.values()) fewest = Math.min(fewest, count);
    return fewest;
  }
}

interface Args {
  defaultConstraints?: TopologySpreadConstraint[];
  defaultingType?: 'System' | 'List';
}

/** Spreads Pods evenly over zones, nodes or other domains: hard constraints filter, soft ones score. */
export const podTopologySpread: PluginFactory = {
  name,
  create(args, handle) {
    const defaults = createDefaults(args as Args, handle);
    const hard = (pod: Pod) => constraintsFor(pod, 'DoNotSchedule', defaults);
    const changesCount = (pod: Pod, others: readonly (Pod | undefined)[]) =>
      hard(pod).some((constraint) =>
        others.some((other) => other && isCounted(constraint, podInfoOf(other).kind, namespaceOf(pod))),
      );
    return {
      name,
      events: [
        {
          resource: 'AssignedPod',
          actions: ['Add', 'Delete', 'UpdatePodLabel'],
          hint: (pod, { before, after }) =>
            changesCount(pod, [before as Pod | undefined, after as Pod | undefined]),
        },
        { resource: 'Node', actions: ['Add', 'Delete', 'UpdateNodeLabel', 'UpdateNodeTaint'] },
      ],
      preFilter(state, pod, snapshot) {
        const constraints = hard(pod);
        if (constraints.length === 0) return { status: skip };
        state.write(filterKey, filterStateOf(pod, constraints, snapshot));
        return undefined;
      },
      addPod: (state, pod, { added, node }) =>
        update(state.read(filterKey), { pod, changed: added, node, by: 1 }),
      removePod: (state, pod, { removed, node }) =>
        update(state.read(filterKey), { pod, changed: removed, node, by: -1 }),
      filter(state, pod, node) {
        const counts = state.read<FilterState>(filterKey);
        return counts && refusal(counts, pod, node);
      },
      preScore(state, pod, nodes) {
        const constraints = constraintsFor(pod, 'ScheduleAnyway', defaults);
        if (constraints.length === 0) return skip;
        const hasOwn = Boolean(pod.spec?.topologySpreadConstraints?.length);
        const snapshot = handle.snapshot();
        state.write(
          scoreKey,
          createSpreadScore({ pod, constraints, nodes, snapshot, requireAllKeys: hasOwn }),
        );
        return undefined;
      },
      score: (state, pod, node) => state.read<SpreadScore>(scoreKey)?.score(pod, node) ?? 0,
      normalizeScore: (state, _pod, scores) => state.read<SpreadScore>(scoreKey)?.normalize(scores),
    };
  },
};

type Defaults = (pod: Pod, action: TopologySpreadConstraint['whenUnsatisfiable']) => SpreadConstraint[];

function createDefaults(
  { defaultConstraints = [], defaultingType = 'System' }: Args,
  handle: Handle,
): Defaults {
  const all = defaultingType === 'System' ? systemDefaultConstraints : defaultConstraints;
  if (all.length === 0) return () => [];
  const selectorFor = createDefaultSelector(handle);
  return (pod, action) => {
    const chosen = all.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === action);
    const labelSelector = chosen.length > 0 ? selectorFor(pod) : undefined;
    if (!labelSelector) return [];
    return chosen.map((constraint) => parseConstraint({ ...constraint, labelSelector }, pod));
  };
}

/** The cluster's defaults are for Pods that say nothing themselves. */
const constraintsFor = (
  pod: Pod,
  action: TopologySpreadConstraint['whenUnsatisfiable'],
  defaults: Defaults,
): SpreadConstraint[] =>
  pod.spec?.topologySpreadConstraints?.length ? constraintsOf(pod, action) : defaults(pod, action);

function filterStateOf(pod: Pod, constraints: readonly SpreadConstraint[], snapshot: Snapshot): FilterState {
  const namespace = namespaceOf(pod);
  if (includesAllNodes(constraints, pod, snapshot.index))
    return new FilterState(
      constraints,
      constraints.map((constraint) => countEverywhere(constraint, namespace, snapshot.index)),
    );
  const counts = constraints.map(() => new Map<string, number>());
  for (const node of snapshot.nodes) {
    if (!hasAllKeys(constraints, node)) continue;
    constraints.forEach((constraint, i) => {
      if (!isIncluded(constraint, pod, node)) return;
      const domain = node.labels[constraint.topologyKey] ?? '';
      const before = counts[i]?.get(domain) ?? 0;
      counts[i]?.set(domain, before + countPods(constraint, node, namespace));
    });
  }
  return new FilterState(constraints, counts);
}

const namespaceOf = ({ metadata }: Pod): string => metadata.namespace ?? '';

interface Update {
  pod: Pod;
  changed: PodInfo;
  node: NodeInfo;
  by: 1 | -1;
}

function update(state: FilterState | undefined, { pod, changed, node, by }: Update): void {
  if (!state || !hasAllKeys(state.constraints, node)) return;
  state.constraints.forEach((constraint, i) => {
    if (!isCounted(constraint, changed.kind, namespaceOf(pod)) || !isIncluded(constraint, pod, node)) return;
    state.add(i, node.labels[constraint.topologyKey] ?? '', by);
  });
}

function refusal(state: FilterState, pod: Pod, node: NodeInfo) {
  for (const [i, constraint] of state.constraints.entries()) {
    const domain = node.labels[constraint.topologyKey];
    if (domain === undefined) return missingLabel;
    const self = constraint.selector.matches(pod.metadata.labels ?? {}) ? 1 : 0;
    const skew = state.count(i, domain) + self - state.fewest(i);
    if (skew > constraint.maxSkew) return tooUneven;
  }
  return undefined;
}

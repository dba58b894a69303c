import { UsageError } from '@tinkernetes/component-base';
import { extenderOf, leaveToExtenders } from './extender-configuration';
import { readYaml, refuse } from './load-configuration';
import type { RawExtender } from './raw';
import { defaultConfiguration, type PluginSet, type SchedulerConfiguration } from './types';
import { extenderErrors } from './validate';

/** The configuration of schedulers up to v1.22. Source: https://v1-22.docs.kubernetes.io/docs/reference/scheduling/policies/ */
interface Policy {
  apiVersion?: string;
  kind?: string;
  predicates?: Rule[];
  priorities?: (Rule & { weight?: number })[];
  extenders?: RawExtender[];
  hardPodAffinitySymmetricWeight?: number;
  alwaysCheckAllPredicates?: boolean;
}
interface Rule {
  name: string;
  argument?: Record<string, unknown>;
}
type Arguments = Record<string, Record<string, unknown>>;

/** The plugins that took a predicate's place. */
const predicates: Readonly<Record<string, readonly string[]>> = {
  GeneralPredicates: ['NodeResourcesFit', 'NodeName', 'NodePorts', 'NodeAffinity'],
  PodFitsResources: ['NodeResourcesFit'],
  PodFitsHostPorts: ['NodePorts'],
  PodFitsPorts: ['NodePorts'],
  HostName: ['NodeName'],
  MatchNodeSelector: ['NodeAffinity'],
  NoDiskConflict: ['VolumeRestrictions'],
  NoVolumeZoneConflict: ['VolumeZone'],
  CheckVolumeBinding: ['VolumeBinding'],
  MaxCSIVolumeCountPred: ['NodeVolumeLimits'],
  CheckNodeUnschedulable: ['NodeUnschedulable'],
  PodToleratesNodeTaints: ['TaintToleration'],
  MatchInterPodAffinity: ['InterPodAffinity'],
  EvenPodsSpread: ['PodTopologySpread'],
};
/** Ran always, whatever the policy said. */
const mandatory = ['PodToleratesNodeTaints', 'CheckNodeUnschedulable'];
const defaultPredicates = [
  'GeneralPredicates',
  'NoDiskConflict',
  'NoVolumeZoneConflict',
  'CheckVolumeBinding',
  'MaxCSIVolumeCountPred',
  'MatchInterPodAffinity',
  'EvenPodsSpread',
];

interface Priority {
  plugin: string;
  args?: Record<string, unknown>;
}
const strategy = (type: string): Priority => ({
  plugin: 'NodeResourcesFit',
  args: { scoringStrategy: { type, resources: [{ name: 'cpu' }, { name: 'memory' }] } },
});
const priorities: Readonly<Record<string, Priority>> = {
  LeastRequestedPriority: strategy('LeastAllocated'),
  MostRequestedPriority: strategy('MostAllocated'),
  BalancedResourceAllocation: { plugin: 'NodeResourcesBalancedAllocation' },
  SelectorSpreadPriority: { plugin: 'PodTopologySpread' },
  EvenPodsSpreadPriority: { plugin: 'PodTopologySpread' },
  InterPodAffinityPriority: { plugin: 'InterPodAffinity' },
  NodeAffinityPriority: { plugin: 'NodeAffinity' },
  TaintTolerationPriority: { plugin: 'TaintToleration' },
  ImageLocalityPriority: { plugin: 'ImageLocality' },
};
const defaultPriorities = [
  'LeastRequestedPriority',
  'BalancedResourceAllocation',
  'EvenPodsSpreadPriority',
  'InterPodAffinityPriority',
  'NodeAffinityPriority',
  'TaintTolerationPriority',
  'ImageLocalityPriority',
].map((name) => ({ name, weight: name === 'EvenPodsSpreadPriority' ? 2 : 1 }));

/** Reads a policy file and translates it into one profile. Throws UsageError when it can't be used. */
export async function loadPolicy(file: string): Promise<SchedulerConfiguration> {
  const where = `--policy-config-file ${file}`;
  const policy = await readYaml<Policy>('--policy-config-file', file);
  if (policy.kind !== 'Policy' || (policy.apiVersion ?? 'v1') !== 'v1')
    throw new UsageError(`${where}: must be v1 Policy`);
  refuse(where, extenderErrors('extenders', policy.extenders ?? []));
  const extenders = (policy.extenders ?? []).map(extenderOf);
  const args: Arguments = {};
  const { hardPodAffinitySymmetricWeight: hardPodAffinityWeight } = policy;
  if (hardPodAffinityWeight !== undefined) args.InterPodAffinity = { hardPodAffinityWeight };
  const filters = filtersOf(policy, where);
  const weights = weightsOf(policy, { where, args });
  const profile = {
    schedulerName: 'default-scheduler',
    plugins: pluginSets(filters, weights),
    pluginConfig: new Map(Object.entries(args)),
  };
  return { ...defaultConfiguration, profiles: leaveToExtenders([profile], extenders), extenders };
}

/** Left out, `predicates` are the defaults; empty, only the mandatory ones. */
function filtersOf(policy: Policy, where: string): Set<string> {
  const named = policy.predicates?.map(({ name }) => name) ?? defaultPredicates;
  const plugins = [...mandatory, ...named].flatMap((name) => {
    const known = predicates[name];
    if (!known)
      throw new UsageError(
        `${where}: there is no predicate "${name}"; known are ${Object.keys(predicates).sort().join(', ')}`,
      );
    return known;
  });
  return new Set(plugins);
}

/** By plugin. Arguments that priorities imply are added to `args`. */
function weightsOf(policy: Policy, { where, args }: { where: string; args: Arguments }): Map<string, number> {
  const weights = new Map<string, number>();
  const given: NonNullable<Policy['priorities']> = policy.priorities ?? defaultPriorities;
  for (const { name, weight = 0, argument } of given) {
    const custom = argument?.requestedToCapacityRatioArguments as RatioArguments | undefined;
    const known = custom ? ratioPriority(custom) : priorities[name];
    if (!known)
      throw new UsageError(
        `${where}: there is no priority "${name}"; known are ${Object.keys(priorities).sort().join(', ')}`,
      );
    if (weight <= 0)
      throw new UsageError(`${where}: priority "${name}" should have a positive weight applied to it`);
    if (known.args && args[known.plugin]?.scoringStrategy)
      throw new UsageError(
        `${where}: priority "${name}" and another one need NodeResourcesFit, which scores one way`,
      );
    if (known.args) args[known.plugin] = { ...args[known.plugin], ...known.args };
    weights.set(known.plugin, (weights.get(known.plugin) ?? 0) + weight);
  }
  return weights;
}

interface RatioArguments {
  shape: { utilization: number; score: number }[];
  resources?: { name: string; weight?: number }[];
}
const ratioPriority = ({ shape, resources }: RatioArguments): Priority => ({
  plugin: 'NodeResourcesFit',
  args: {
    scoringStrategy: {
      type: 'RequestedToCapacityRatio',
      resources: resources ?? [{ name: 'cpu' }, { name: 'memory' }],
      requestedToCapacityRatio: { shape },
    },
  },
});

/** What every scheduler needs beside predicates and priorities. */
const basics = ['SchedulingGates', 'PrioritySort', 'DefaultPreemption', 'DefaultBinder'];

/** These plugins and no others; a predicate doesn't score, and a priority doesn't filter. */
function pluginSets(
  filters: ReadonlySet<string>,
  weights: ReadonlyMap<string, number>,
): Record<string, PluginSet> {
  const names = [...new Set([...basics, ...filters, ...weights.keys()])];
  const without = (left: (name: string) => boolean): PluginSet => ({
    enabled: [],
    disabled: names.filter(left).map((name) => ({ name })),
  });
  const noFilters = without((name) => weights.has(name) && !filters.has(name));
  const noScores = without((name) => filters.has(name) && !weights.has(name));
  return {
    multiPoint: {
      disabled: [{ name: '*' }],
      enabled: names.map((name) => ({ name, weight: weights.get(name) })),
    },
    preFilter: noFilters,
    filter: noFilters,
    preScore: noScores,
    score: noScores,
  };
}

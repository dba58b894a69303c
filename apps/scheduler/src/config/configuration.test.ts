import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '@tinkernetes/component-base';
import { listedInformers } from '../testing/listed-informers';
import type { Handle } from '../framework/types';
import { loadConfiguration } from './load-configuration';
import { createProfilePlugins } from './profile-plugins';
import type { ProfileConfiguration } from './types';

const header = 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n';

describe('KubeSchedulerConfiguration', () => {
  const folder = mkdtempSync(join(tmpdir(), 'scheduler-config-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const load = (text: string) => {
    const file = join(folder, 'config.yaml');
    writeFileSync(file, text);
    return loadConfiguration(file);
  };

  it('reads profiles, plugin arguments, back-off and leader election', async () => {
    const loaded = await load(`${header}
percentageOfNodesToScore: 30
podMaxBackoffSeconds: 60
leaderElection: { leaderElect: false, leaseDuration: 30s }
profiles:
- schedulerName: packer
  plugins:
    score: { disabled: [{ name: ImageLocality }], enabled: [{ name: NodeResourcesFit, weight: 5 }] }
  pluginConfig:
  - name: NodeResourcesFit
    args: { scoringStrategy: { type: MostAllocated } }
`);
    expect(loaded).toMatchObject({ leaderElect: false, leaseDurationMs: 30_000 });
    const { profiles, ...rest } = loaded.scheduler;
    expect(rest).toEqual({
      extenders: [],
      percentageOfNodesToScore: 30,
      podInitialBackoffMs: 1000,
      podMaxBackoffMs: 60_000,
      podMaxUnschedulableMs: 300_000,
    });
    expect(profiles[0]?.schedulerName).toBe('packer');
    expect(profiles[0]?.pluginConfig.get('NodeResourcesFit')).toEqual({
      scoringStrategy: { type: 'MostAllocated' },
    });
  });

  it.each([
    [
      'another kind',
      'kind: Deployment\n',
      /must be kubescheduler.config.k8s.io\/v1 KubeSchedulerConfiguration/,
    ],
    ['broken YAML', 'a: [', /config\.yaml/],
    ['a misspelt field', `${header}profilez: []\n`, /strict decoding error: unknown field "profilez"$/],
    [
      'a misspelt field deep inside',
      `${header}profiles: [{ plugins: { filters: {} } }]\n`,
      /unknown field "profiles\[0\]\.plugins\.filters"$/,
    ],
  ])('refuses %s', async (_, text, message) => {
    const error = await load(text).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UsageError);
    expect((error as Error).message).toMatch(message);
  });

  it.each([
    [
      'profiles: [{}, {}]',
      '[profiles[0].schedulerName: Required value, profiles[1].schedulerName: Required value, ' +
        'profiles[1].schedulerName: Duplicate value: "profiles[0].schedulerName"]',
    ],
    [
      'profiles: [{ pluginConfig: [{ name: NodeResourcesFit, args: { scoring: 1 } }] }]',
      'strict decoding error: decoding .profiles[0].pluginConfig[0]: strict decoding error: decoding args for plugin NodeResourcesFit: strict decoding error: unknown field "scoring"',
    ],
    ['profiles: [{ schedulerName: "" }]', 'profiles[0].schedulerName: Required value'],
    [
      'percentageOfNodesToScore: 101',
      'percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]',
    ],
    ['parallelism: 0', 'parallelism: Invalid value: 0: should be an integer value greater than zero'],
    [
      'podInitialBackoffSeconds: 20',
      'podMaxBackoffSeconds: Invalid value: 10: must be greater than or equal to PodInitialBackoffSeconds',
    ],
    [
      'leaderElection: { leaseDuration: 5s }',
      'leaderElection.leaseDuration: Invalid value: "10s": must be greater than `RenewDeadline`',
    ],
    [
      'leaderElection: { resourceLock: endpoints }',
      'leaderElection.resourceLock: Invalid value: "endpoints": resourceLock value must be "leases"',
    ],
    [
      'profiles: [{ plugins: { filter: { enabled: [{ name: EBSLimits }] } } }]',
      'profiles[0].plugins.filter.enabled[0]: Invalid value: "EBSLimits": was invalid in version "kubescheduler.config.k8s.io/v1" (KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1")',
    ],
    [
      'profiles: [{ schedulerName: a }, { schedulerName: b, plugins: { queueSort: { disabled: [{ name: X }] } } }]',
      'profiles[1].plugins.queueSort: Invalid value: {"Enabled":null,"Disabled":[{"Name":"X","Weight":0}]}: must be the same for all profiles',
    ],
    [
      'extenders: [{ prioritizeVerb: p, bindVerb: b }, { bindVerb: b, managedResources: [{ name: cpu }] }]',
      '[extenders[0].weight: Invalid value: 0: must have a positive weight applied to it, ' +
        'extenders[1].managedResources[0].name: Invalid value: "cpu": is an invalid extended resource name, ' +
        'extenders: Invalid value: "found 2 extenders implementing bind": only one extender can implement bind]',
    ],
  ])('refuses %s in upstream’s words', async (text, message) => {
    await expect(load(`${header}${text}\n`)).rejects.toThrow(`config.yaml: ${message}`);
  });

  it.each([
    [
      'InterPodAffinity',
      '{ hardPodAffinityWeight: 200 }',
      'hardPodAffinityWeight: Invalid value: 200: not in valid range [0, 100]',
    ],
    [
      'NodeResourcesFit',
      '{ scoringStrategy: { type: Random } }',
      'scoringStrategy.type: Unsupported value: "Random": supported values: "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"',
    ],
    [
      'NodeResourcesFit',
      '{ scoringStrategy: { type: RequestedToCapacityRatio } }',
      'scoringStrategy.requestedToCapacityRatio: Required value: must be specified when type is RequestedToCapacityRatio',
    ],
    [
      'NodeResourcesFit',
      '{ ignoredResourceGroups: [a/b] }',
      `ignoredResourceGroups[0]: Invalid value: "a/b": resource group name can't contain '/'`,
    ],
    [
      'PodTopologySpread',
      '{ defaultingType: List, defaultConstraints: [{ maxSkew: 0, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway }] }',
      'defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, inf)',
    ],
    [
      'PodTopologySpread',
      '{ defaultConstraints: [{ maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway }] }',
      'defaultingType: Invalid value: "System": when .defaultConstraints are not empty',
    ],
    [
      'VolumeBinding',
      '{ bindTimeoutSeconds: -1 }',
      'bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative value',
    ],
    [
      'NodeResourcesBalancedAllocation',
      '{ resources: [{ name: cpu, weight: 2 }] }',
      'resources[0].weight: Invalid value: 2: must be 1',
    ],
    [
      'DefaultPreemption',
      '{ minCandidateNodesPercentage: 101 }',
      'minCandidateNodesPercentage: Invalid value: 101: not in valid range [0, 100]',
    ],
  ])('refuses arguments of %s: %s', async (name, args, message) => {
    const text = `${header}profiles: [{ pluginConfig: [{ name: ${name}, args: ${args} }] }]\n`;
    await expect(load(text)).rejects.toThrow(`config.yaml: profiles[0].pluginConfig[0].args.${message}`);
  });

  it('leaves resources that an extender looks after out of NodeResourcesFit', async () => {
    const { scheduler } = await load(`${header}
extenders:
- urlPrefix: http://127.0.0.1:1
  filterVerb: filter
  managedResources: [{ name: example.com/gpu, ignoredByScheduler: true }, { name: example.com/disk }]
`);
    expect(scheduler.profiles[0]?.pluginConfig.get('NodeResourcesFit')).toEqual({
      ignoredResources: ['example.com/gpu'],
    });
    expect(scheduler.extenders[0]).toMatchObject({ filterVerb: 'filter', timeoutMs: 5000, ignorable: false });
  });
});

describe('plugins of a profile', () => {
  const handle = { informers: listedInformers([]) } as unknown as Handle;
  const pluginsOf = (plugins: ProfileConfiguration['plugins']) =>
    createProfilePlugins({ schedulerName: 'test', plugins, pluginConfig: new Map() }, handle);
  const namesAt = (plugins: ProfileConfiguration['plugins'], point: 'score' | 'filter' | 'bind') =>
    pluginsOf(plugins)[point].map(({ plugin, weight }) =>
      point === 'score' ? `${plugin.name}:${weight}` : plugin.name,
    );

  it('are upstream’s defaults when nothing is said', () => {
    expect(namesAt({}, 'filter')).toEqual([
      'NodeUnschedulable',
      'NodeName',
      'TaintToleration',
      'NodeAffinity',
      'NodePorts',
      'NodeResourcesFit',
      'VolumeRestrictions',
      'NodeVolumeLimits',
      'VolumeBinding',
      'VolumeZone',
      'PodTopologySpread',
      'InterPodAffinity',
      'DynamicResources',
    ]);
    expect(namesAt({}, 'score')).toEqual([
      'TaintToleration:3',
      'NodeAffinity:2',
      'NodeResourcesFit:1',
      'PodTopologySpread:2',
      'InterPodAffinity:2',
      'NodeResourcesBalancedAllocation:1',
      'ImageLocality:1',
    ]);
  });

  it('can be disabled one by one, all at once, and re-weighted', () => {
    const score = { disabled: [{ name: '*' }], enabled: [{ name: 'ImageLocality', weight: 7 }] };
    expect(namesAt({ score }, 'score')).toEqual(['ImageLocality:7']);
    const multiPoint = {
      disabled: [{ name: 'NodeAffinity' }],
      enabled: [{ name: 'TaintToleration', weight: 9 }],
    };
    expect(namesAt({ multiPoint }, 'filter')).not.toContain('NodeAffinity');
    expect(namesAt({ multiPoint }, 'score')[0]).toBe('TaintToleration:9');
  });

  it.each([
    [
      'a plugin that is not there',
      { filter: { enabled: [{ name: 'Magic' }], disabled: [] } },
      /scheduler name test: FilterPlugin "Magic" does not exist/,
    ],
    [
      'a plugin at a point that it does not have',
      { bind: { enabled: [{ name: 'NodeName' }], disabled: [] } },
      /plugin "NodeName" does not extend BindPlugin plugin/,
    ],
    [
      'a profile that could not bind',
      { bind: { enabled: [], disabled: [{ name: '*' }] } },
      /at least one bind plugin is needed for profile with scheduler name "test"/,
    ],
    [
      'a profile without an order',
      { queueSort: { enabled: [], disabled: [{ name: '*' }] } },
      /only one queue sort plugin required for profile with scheduler name "test", but got 0/,
    ],
  ])('refuse %s', (_, plugins, message) => {
    expect(() => pluginsOf(plugins)).toThrow(message);
  });
});

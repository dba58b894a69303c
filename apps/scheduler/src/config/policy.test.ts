import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Handle } from '../framework/types';
import { listedInformers } from '../testing/listed-informers';
import { loadPolicy } from './policy';
import { createProfilePlugins } from './profile-plugins';
import type { ProfileConfiguration } from './types';

describe('a Policy file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'scheduler-policy-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const load = (policy: object) => {
    const file = join(folder, 'policy.json');
    writeFileSync(file, JSON.stringify({ kind: 'Policy', apiVersion: 'v1', ...policy }));
    return loadPolicy(file);
  };
  const handle = { informers: listedInformers([]) } as unknown as Handle;
  const pluginsOf = (profile: ProfileConfiguration) => {
    const points = createProfilePlugins(profile, handle);
    const names = (point: 'filter' | 'preFilter' | 'bind' | 'queueSort' | 'postFilter') =>
      points[point].map(({ plugin }) => plugin.name);
    const scores = Object.fromEntries(points.score.map(({ plugin, weight }) => [plugin.name, weight]));
    return { names, scores };
  };

  it('names predicates and priorities, which become the plugins that took their places', async () => {
    const { profiles, extenders } = await load({
      predicates: [{ name: 'PodFitsHostPorts' }, { name: 'PodFitsResources' }, { name: 'HostName' }],
      priorities: [
        { name: 'MostRequestedPriority', weight: 3 },
        { name: 'NodeAffinityPriority', weight: 7 },
      ],
      extenders: [{ urlPrefix: 'http://127.0.0.1:12346/scheduler', filterVerb: 'filter', httpTimeout: 2e9 }],
    });
    const [profile] = profiles as [ProfileConfiguration];
    const { names, scores } = pluginsOf(profile);
    // Tolerations and cordons counted always.
    expect(names('filter')).toEqual([
      'TaintToleration',
      'NodeUnschedulable',
      'NodePorts',
      'NodeResourcesFit',
      'NodeName',
    ]);
    // A priority does not filter.
    expect(names('preFilter')).not.toContain('NodeAffinity');
    expect(scores).toEqual({ NodeResourcesFit: 3, NodeAffinity: 7 });
    expect(profile.pluginConfig.get('NodeResourcesFit')).toMatchObject({
      scoringStrategy: { type: 'MostAllocated' },
    });
    expect([...names('queueSort'), ...names('postFilter'), ...names('bind')]).toEqual([
      'PrioritySort',
      'DefaultPreemption',
      'DefaultBinder',
    ]);
    expect(extenders[0]).toMatchObject({ filterVerb: 'filter', timeoutMs: 2000 });
  });

  it('stands for the defaults of its time where it says nothing', async () => {
    const [profile] = (await load({})).profiles as [ProfileConfiguration];
    const { names, scores } = pluginsOf(profile);
    expect(names('filter')).toEqual(
      expect.arrayContaining(['InterPodAffinity', 'VolumeBinding', 'NodePorts']),
    );
    expect(scores).toEqual({
      NodeResourcesFit: 1,
      NodeResourcesBalancedAllocation: 1,
      PodTopologySpread: 2,
      InterPodAffinity: 1,
      NodeAffinity: 1,
      TaintToleration: 1,
      ImageLocality: 1,
    });
  });

  it('may shape the use of resources, and weigh what Pods nearby want', async () => {
    const shape = [
      { utilization: 0, score: 0 },
      { utilization: 100, score: 10 },
    ];
    const [profile] = (
      await load({
        hardPodAffinitySymmetricWeight: 50,
        priorities: [{ name: 'Mine', weight: 2, argument: { requestedToCapacityRatioArguments: { shape } } }],
      })
    ).profiles as [ProfileConfiguration];
    expect(Object.fromEntries(profile.pluginConfig)).toEqual({
      InterPodAffinity: { hardPodAffinityWeight: 50 },
      NodeResourcesFit: {
        scoringStrategy: {
          type: 'RequestedToCapacityRatio',
          resources: [{ name: 'cpu' }, { name: 'memory' }],
          requestedToCapacityRatio: { shape },
        },
      },
    });
  });

  it.each([
    [
      { predicates: [{ name: 'Magic' }] },
      /there is no predicate "Magic"; known are CheckNodeUnschedulable, /,
    ],
    [{ priorities: [{ name: 'Magic', weight: 1 }] }, /there is no priority "Magic"; known are Balanced/],
    [
      { priorities: [{ name: 'NodeAffinityPriority' }] },
      /priority "NodeAffinityPriority" should have a positive weight applied to it/,
    ],
    [
      {
        priorities: [
          { name: 'LeastRequestedPriority', weight: 1 },
          { name: 'MostRequestedPriority', weight: 1 },
        ],
      },
      /"MostRequestedPriority" and another one need NodeResourcesFit, which scores one way/,
    ],
    [{ kind: 'Pod' }, /must be v1 Policy/],
    [
      { extenders: [{ urlPrefix: 'http://x', prioritizeVerb: 'p' }] },
      /extenders\[0\]\.weight: Invalid value: 0: must have a positive weight applied to it/,
    ],
  ])('is refused when it is %j', async (policy, message) => {
    await expect(load(policy)).rejects.toThrow(message);
  });
});

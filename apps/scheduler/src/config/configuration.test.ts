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
      percentageOfNodesToScore: 30,
      podInitialBackoffMs: 1000,
      podMaxBackoffMs: 60_000,
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
    [
      'two profiles of one name',
      `${header}profiles: [{}, {}]\n`,
      /two profiles have the schedulerName "default-scheduler"/,
    ],
  ])('refuses %s', async (_, text, message) => {
    const error = await load(text).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UsageError);
    expect((error as Error).message).toMatch(message);
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
      /no plugin "Magic"/,
    ],
    [
      'a plugin at a point that it does not have',
      { bind: { enabled: [{ name: 'NodeName' }], disabled: [] } },
      /does not implement bind/,
    ],
    [
      'a profile that could not bind',
      { bind: { enabled: [], disabled: [{ name: '*' }] } },
      /at least one bind plugin/,
    ],
    [
      'a profile without an order',
      { queueSort: { enabled: [], disabled: [{ name: '*' }] } },
      /exactly one queueSort/,
    ],
  ])('refuse %s', (_, plugins, message) => {
    expect(() => pluginsOf(plugins)).toThrow(message);
  });
});

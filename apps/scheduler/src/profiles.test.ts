import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Events } from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import { eventually, type StartedComponent } from '@tinkernetes/component-base/testing';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import { asking, createPod, createReadyNode, getPod } from './testing/api-objects';
import { startScheduler } from './testing/running-scheduler';

const configuration = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: { leaderElect: false }
profiles:
- schedulerName: default-scheduler
- schedulerName: packer
  plugins:
    multiPoint: { disabled: [{ name: PodTopologySpread }] }
    score:
      disabled: [{ name: '*' }]
      enabled: [{ name: NodeResourcesFit, weight: 1 }]
  pluginConfig:
  - name: NodeResourcesFit
    args: { scoringStrategy: { type: MostAllocated, resources: [{ name: cpu, weight: 1 }] } }
`;

describe('a scheduler with two profiles', () => {
  const folder = mkdtempSync(join(tmpdir(), 'scheduler-profiles-'));
  let server: TestApiServer;
  let client: Client;
  let scheduler: StartedComponent;

  beforeAll(async () => {
    server = await startApiServer({ flags: ['--disable-admission-plugins=ServiceAccount'] });
    client = createClient(server.adminConfig);
    for (const name of ['node-1', 'node-2', 'node-3']) await createReadyNode(client, name);
    const file = join(folder, 'config.yaml');
    writeFileSync(file, configuration);
    scheduler = await startScheduler(await server.configFor('system:kube-scheduler'), [`--config=${file}`]);
  });
  afterAll(async () => {
    await scheduler.stop();
    client.close();
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  const nodesOf = async (prefix: string, schedulerName: string): Promise<string[]> => {
    const nodes: string[] = [];
    for (const i of [1, 2, 3]) {
      const name = `${prefix}-${i}`;
      await createPod(client, name, { ...asking('100m'), schedulerName });
      const node = await eventually(async () => {
        const { spec } = await getPod(client, name);
        expect(spec?.nodeName).toBeDefined();
        return spec?.nodeName ?? '';
      });
      nodes.push(node);
    }
    return nodes;
  };

  it('places each Pod by the profile that its schedulerName names, in that name', async () => {
    const spread = await nodesOf('spread', 'default-scheduler');
    expect(new Set(spread).size).toBe(3);
    await createPod(client, 'first', { ...asking('500m'), schedulerName: 'packer' });
    await eventually(async () => expect((await getPod(client, 'first')).spec?.nodeName).toBeDefined());
    const fullest = (await getPod(client, 'first')).spec?.nodeName;
    expect(await nodesOf('packed', 'packer')).toEqual([fullest, fullest, fullest]);
    await eventually(async () => {
      const { items } = await client.for(Events).list({ namespace: 'default' });
      const sources = items
        .filter(({ reason }) => reason === 'Scheduled')
        .map(({ involvedObject, reportingComponent, source }) => [
          involvedObject.name,
          reportingComponent || source?.component,
        ]);
      expect(Object.fromEntries(sources)).toMatchObject({
        'spread-1': 'default-scheduler',
        'packed-1': 'packer',
      });
    });
  });
});

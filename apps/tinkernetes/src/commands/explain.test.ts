import { dirname } from 'node:path';
import { Pods, type Pod } from '@tinkernetes/api';
import { createClient, loadKubeconfig, type Client } from '@tinkernetes/client';
import { eventually } from '@tinkernetes/component-base/testing';
import { startCluster, type RunningCluster } from '../start-cluster';
import { explain } from './explain';

describe('explain', () => {
  let cluster: RunningCluster;
  let client: Client;
  beforeAll(async () => {
    cluster = await startCluster({ nodes: 2 });
    client = createClient(await loadKubeconfig(cluster.kubeconfigFile, { userAgent: 'test' }));
  });
  afterAll(async () => {
    client.close();
    await cluster.stop();
  });

  const createPod = (name: string, cpu: string) => {
    const containers = [{ name: 'main', image: 'nginx', resources: { requests: { cpu } } }];
    return client
      .for(Pods)
      .create({ metadata: { name }, spec: { containers } } as unknown as Pod, { namespace: 'default' });
  };
  /** What the command prints. */
  const printed = async (...args: string[]): Promise<string> => {
    const write = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    try {
      await explain.run([...args, `--data-dir=${dirname(cluster.kubeconfigFile)}`]);
      return write.mock.calls.map(([text]) => String(text)).join('');
    } finally {
      write.mockRestore();
    }
  };

  it('prints how each node scored for a Pod that was placed', async () => {
    await createPod('placed', '100m');
    const text = await eventually(() => printed('pod/placed'));
    expect(text).toMatch(/^default\/placed: placed on node-[12] \(attempt 1 .*; 2 of 2 nodes/);
    for (const node of ['node-1', 'node-2'])
      expect(text).toMatch(new RegExp(`^${node}   NodeResourcesFit +\\d`, 'm'));
  });

  it('prints who refused each node for a Pod that fits nowhere', async () => {
    await createPod('huge', '10000');
    const text = await eventually(() => printed('pod/huge'));
    expect(text).toContain('default/huge: unschedulable');
    expect(text).toContain('0/2 nodes are available: 2 Insufficient cpu.');
    for (const node of ['node-1', 'node-2'])
      expect(text).toMatch(new RegExp(`^${node}   NodeResourcesFit +Insufficient cpu$`, 'm'));
  });

  it('says so when the scheduler knows no such Pod', async () => {
    await expect(printed('pod/unknown')).rejects.toThrow('no attempt for pod/unknown in namespace default');
  });

  it('asks the scheduler that --scheduler names', async () => {
    await expect(printed('pod/placed', '--scheduler=127.0.0.1:1')).rejects.toThrow(
      'no scheduler answers at 127.0.0.1:1',
    );
  });

  it.each([[''], ['pod'], ['deployment/web']])('refuses the target "%s"', async (target) => {
    await expect(printed(target)).rejects.toThrow('explain needs a Pod');
  });
});

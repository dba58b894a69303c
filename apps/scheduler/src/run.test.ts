import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Events, Nodes, Pods, type Node, type Pod } from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import {
  createMetrics,
  createStepTracer,
  parseFlags,
  realClock,
  realRandom,
} from '@tinkernetes/component-base';
import { eventually, silentLogger } from '@tinkernetes/component-base/testing';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import { flags, toOptions } from './options';
import { run } from './run';

describe('scheduler against a real API server', () => {
  let server: TestApiServer;
  let client: Client;
  let folder: string;
  const stopping = new AbortController();
  let running: Promise<void>;

  beforeAll(async () => {
    server = await startApiServer({ flags: ['--disable-admission-plugins=ServiceAccount'] });
    client = createClient(server.adminConfig);
    folder = mkdtempSync(join(tmpdir(), 'scheduler-'));
    const kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(kubeconfig, server.kubeconfig);
    const options = toOptions(parseFlags(flags, [`--kubeconfig=${kubeconfig}`, '--leader-elect=false']));
    await new Promise<void>((resolve, reject) => {
      running = run(options, {
        signal: stopping.signal,
        clock: realClock,
        random: realRandom,
        logger: silentLogger,
        metrics: createMetrics(),
        tracer: createStepTracer({ component: 'kube-scheduler' }),
        ready: () => resolve(),
      });
      running.catch(reject);
    });
  });
  afterAll(async () => {
    stopping.abort(new Error('test is over'));
    await running;
    client.close();
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  /** A Ready node: what the node lifecycle controller and the kubelet would have made of it. */
  const createNode = async (name: string) => {
    const resources = { cpu: '2', memory: '4Gi', pods: '110' };
    const status = {
      allocatable: resources,
      capacity: resources,
      conditions: [{ type: 'Ready', status: 'True' }],
    };
    const node = {
      metadata: { name, labels: { 'kubernetes.io/hostname': name } },
      status,
    } as unknown as Node;
    await client.for(Nodes).create(node);
    await client.for(Nodes).patch(name, { spec: { taints: null } }, { type: 'merge' });
  };
  const createPod = (name: string, spec: Partial<Pod['spec']> = {}) =>
    client
      .for(Pods)
      .create(
        { metadata: { name }, spec: { containers: [{ name: 'main', image: 'nginx' }], ...spec } } as never,
        { namespace: 'default' },
      );
  const podNamed = (name: string) => client.for(Pods).get(name, { namespace: 'default' });

  it('says that there are no nodes, and binds the Pod once one comes', async () => {
    await createPod('early');
    await eventually(async () => {
      const condition = (await podNamed('early')).status?.conditions?.find(
        ({ type }) => type === 'PodScheduled',
      );
      expect(condition).toMatchObject({
        status: 'False',
        reason: 'Unschedulable',
        message: 'no nodes available to schedule pods',
      });
    });
    await createNode('node-1');
    await eventually(async () => expect((await podNamed('early')).spec?.nodeName).toBe('node-1'));
    await eventually(async () => {
      const { items } = await client.for(Events).list({ namespace: 'default' });
      const messages = items
        .filter(({ involvedObject }) => involvedObject.name === 'early')
        .map(({ message }) => message);
      expect(messages).toEqual([
        'no nodes available to schedule pods',
        '0/1 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/not-ready: }.',
        'Successfully assigned default/early to node-1',
      ]);
    });
  });

  it('binds within milliseconds of a Pod’s appearance', async () => {
    const start = performance.now();
    await createPod('quick');
    await eventually(async () => expect((await podNamed('quick')).spec?.nodeName).toBe('node-1'), {
      intervalMs: 2,
    });
    expect(performance.now() - start).toBeLessThan(500);
  });
});

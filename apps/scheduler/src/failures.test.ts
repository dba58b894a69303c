import { Leases, Nodes, Pods, type Pod, type PodSpec } from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import { realClock } from '@tinkernetes/component-base';
import { eventually, type StartedComponent } from '@tinkernetes/component-base/testing';
import { createMemoryStorage, type Storage } from '@tinkernetes/storage';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import { asking, createPod, createReadyNode, getPod } from './testing/api-objects';
import { BreakableProxy } from './testing/breakable-proxy';
import { startScheduler } from './testing/running-scheduler';
import { SchedulerProcesses } from './testing/scheduler-process';

const namespace = 'default';
const flags = ['--disable-admission-plugins=ServiceAccount'];
const inTime = { timeoutMs: 60_000, intervalMs: 100 };
const createPods = async (client: Client, prefix: string, count: number): Promise<void> => {
  for (let i = 0; i < count; i += 20) {
    const some = Array.from({ length: Math.min(20, count - i) }, (_, j) => `${prefix}-${i + j}`);
    await Promise.all(some.map((name) => createPod(client, name, asking('10m'))));
  }
};
const boundNodes = async (client: Client): Promise<string[]> => {
  const { items } = await client.for(Pods).list({ namespace });
  return items.flatMap(({ spec }) => spec?.nodeName ?? []);
};

describe('the scheduler when the API server is started anew in the middle', () => {
  const count = Number(process.env.RESTART_PODS ?? 200);
  let storage: Storage;
  let server: TestApiServer;
  let client: Client;
  let proxy: BreakableProxy;
  let scheduler: StartedComponent;

  beforeAll(async () => {
    storage = await createMemoryStorage({ clock: realClock });
    server = await startApiServer({ storage, flags });
    proxy = await BreakableProxy.start(server.port);
    const through = (config: Awaited<ReturnType<TestApiServer['configFor']>>) => ({
      ...config,
      server: `https://127.0.0.1:${proxy.port}`,
    });
    client = createClient(through(server.adminConfig));
    for (let i = 0; i < 12; i++) await createReadyNode(client, `node-${i}`);
    await createPods(client, 'p', count);
    scheduler = await startScheduler(through(await server.configFor('system:kube-scheduler')), [
      '--leader-elect=false',
    ]);
  });
  afterAll(async () => {
    await scheduler.stop();
    client.close();
    await proxy.stop();
    await server.stop();
    await storage.close();
  });

  it('binds every Pod, each once, and fills no node beyond its room', async () => {
    await eventually(async () => expect((await boundNodes(client)).length).toBeGreaterThan(count / 10), {
      ...inTime,
      intervalMs: 5,
    });
    proxy.break();
    const { ca } = server;
    await server.stop();
    server = await startApiServer({ storage, ca, flags });
    proxy.mend(server.port);
    const nodes = await eventually(async () => {
      const bound = await boundNodes(client);
      expect(bound).toHaveLength(count);
      return bound;
    }, inTime);
    for (const node of new Set(nodes))
      expect(nodes.filter((other) => other === node).length).toBeLessThanOrEqual(110);
  });
});

describe('the scheduler with bad input', () => {
  let server: TestApiServer;
  let client: Client;
  let scheduler: StartedComponent;
  let attemptOf: (name: string) => Promise<{ attempt: number } | undefined>;

  beforeAll(async () => {
    server = await startApiServer({ flags });
    client = createClient(server.adminConfig);
    await createReadyNode(client, 'node-0');
    scheduler = await startScheduler(await server.configFor('system:kube-scheduler'), [
      '--leader-elect=false',
      '--debug-port=0',
    ]);
    const url = `http://127.0.0.1:${String(scheduler.info.debugPort)}/debug/scheduler/attempts/${namespace}`;
    attemptOf = async (name) => {
      const response = await fetch(`${url}/${name}`, { headers: { connection: 'close' } });
      return response.ok ? ((await response.json()) as { attempt: number }) : undefined;
    };
  });
  afterAll(async () => {
    await scheduler.stop();
    client.close();
    await server.stop();
  });

  const term = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { a: 'nowhere' } } };
  const impossible: Record<string, { spec: Partial<PodSpec>; reason: RegExp }> = {
    'too-big': { spec: asking('1000'), reason: /1 Insufficient cpu/ },
    nowhere: {
      spec: { nodeSelector: { no: 'such-label' } },
      reason: /1 node\(s\) didn't match Pod's node affinity\/selector/,
    },
    'no-claim': {
      spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'gone' } }] },
      reason: /persistentvolumeclaim "gone" not found/,
    },
    lonely: {
      spec: { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } },
      reason: /1 node\(s\) didn't match pod affinity rules/,
    },
    'no-label': {
      spec: {
        topologySpreadConstraints: [
          { ...term, topologyKey: 'no/such-key', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' },
        ],
      },
      reason: /missing required label/,
    },
  };

  it('says of impossible Pods why, once, and is not kept busy by them when other Pods come', async () => {
    for (const [name, { spec }] of Object.entries(impossible)) await createPod(client, name, spec);
    for (const [name, { reason }] of Object.entries(impossible))
      await eventually(async () => {
        const [condition] = (await getPod(client, name)).status?.conditions ?? [];
        expect(condition).toMatchObject({ type: 'PodScheduled', reason: 'Unschedulable' });
        expect(condition?.message).toMatch(reason);
      });
    await createPods(client, 'possible', 20);
    await eventually(async () => expect(await boundNodes(client)).toHaveLength(20));
    for (const name of Object.keys(impossible))
      expect((await attemptOf(name))?.attempt).toBeLessThanOrEqual(2);
  });

  it('leaves Pods of another scheduler alone', async () => {
    await createPod(client, 'foreign', { schedulerName: 'somebody-else' });
    await createPod(client, 'mine');
    await eventually(async () => expect((await getPod(client, 'mine')).spec?.nodeName).toBe('node-0'));
    expect((await getPod(client, 'foreign')).status?.conditions).toBeUndefined();
    expect(await attemptOf('foreign')).toBeUndefined();
  });

  it('lets a Pod be that somebody else has bound', async () => {
    await client.for(Nodes).patch('node-0', { spec: { unschedulable: true } }, { type: 'merge' });
    const pod: Pod = await createPod(client, 'taken');
    const target = { apiVersion: 'v1', kind: 'Node', name: 'node-elsewhere' };
    const binding = { metadata: { name: 'taken', uid: pod.metadata.uid }, target };
    await client.for(Pods).subresource('POST', 'taken', 'binding', binding, { namespace });
    await client.for(Nodes).patch('node-0', { spec: { unschedulable: null } }, { type: 'merge' });
    await createPod(client, 'after');
    await eventually(async () => expect((await getPod(client, 'after')).spec?.nodeName).toBe('node-0'));
    expect((await getPod(client, 'taken')).spec?.nodeName).toBe('node-elsewhere');
  });

  it('loses no Pod when nodes vanish while Pods are being placed', async () => {
    for (let i = 1; i <= 4; i++) await createReadyNode(client, `node-${i}`);
    const before = (await boundNodes(client)).length;
    const creating = createPods(client, 'stable', 60);
    for (let i = 1; i <= 3; i++) await client.for(Nodes).delete(`node-${i}`);
    await creating;
    await eventually(async () => expect((await boundNodes(client)).length).toBe(before + 60), inTime);
  });
});

describe('two schedulers of which one leads', () => {
  let server: TestApiServer;
  let client: Client;
  let processes: SchedulerProcesses;

  beforeAll(async () => {
    server = await startApiServer({ flags });
    client = createClient(server.adminConfig);
    await createReadyNode(client, 'node-0');
    processes = await SchedulerProcesses.prepare(await server.configFor('system:kube-scheduler'));
  });
  afterAll(async () => {
    await processes.stop();
    client.close();
    await server.stop();
  });

  const holder = async (): Promise<string> =>
    (await client.for(Leases).get('kube-scheduler', { namespace: 'kube-system' })).spec?.holderIdentity ?? '';

  it('go on when the leader is killed', async () => {
    const timing = [
      '--leader-elect-lease-duration=3s',
      '--leader-elect-renew-deadline=2s',
      '--leader-elect-retry-period=500ms',
    ];
    const first = processes.start(timing);
    const leader = await eventually(async () => {
      const identity = await holder();
      expect(identity).not.toBe('');
      return identity;
    }, inTime);
    processes.start(timing);
    await createPods(client, 'before', 10);
    await eventually(async () => expect(await boundNodes(client)).toHaveLength(10), inTime);
    first.kill('SIGKILL');
    await createPods(client, 'after', 10);
    await eventually(async () => expect(await boundNodes(client)).toHaveLength(20), inTime);
    expect(await holder()).not.toBe(leader);
  });
});

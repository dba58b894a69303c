import {
  DaemonSets,
  Deployments,
  EndpointSlices,
  Leases,
  Nodes,
  Pods,
  Services,
  StatefulSets,
  type Node,
  type Pod,
} from '@tinkernetes/api';
import { findCondition, isNotFound } from '@tinkernetes/apimachinery';
import { formatMicroTime, formatTime } from '@tinkernetes/component-base';
import { eventually } from '@tinkernetes/component-base/testing';
import { fastTime, ScaledClock } from './testing/scaled-clock';
import { startTestManager, type TestManager } from './testing/test-manager';

const namespace = 'default';
const clock = new ScaledClock();
let manager: TestManager;
const stopHeartbeats: Array<() => void> = [];

beforeAll(async () => {
  manager = await startTestManager({
    clock,
    args: ['--node-eviction-rate=100', '--large-cluster-size-threshold=0'],
  });
});
afterAll(async () => {
  for (const stop of stopHeartbeats) stop();
  await clock.slowDown();
  await manager?.stop();
  await clock.stop();
});

const isGone = (get: Promise<unknown>) => get.then(() => false, isNotFound);

/** A node that renews its lease every ten seconds of the manager's time until `stop`. */
async function startNode(name: string): Promise<{ stop(): void }> {
  const { client } = manager;
  const now = () => formatTime(clock.now());
  await client
    .for(Nodes)
    .create({ metadata: { name, labels: { 'kubernetes.io/hostname': name } }, spec: {} });
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: 'KubeletReady',
    lastHeartbeatTime: now(),
    lastTransitionTime: now(),
  };
  await client
    .for(Nodes)
    .patch(name, { status: { conditions: [ready] } }, { type: 'strategic', subresource: 'status' });
  const spec = () => ({
    holderIdentity: name,
    leaseDurationSeconds: 40,
    renewTime: formatMicroTime(clock.now()),
  });
  await client.for(Leases).create({ metadata: { name }, spec: spec() }, { namespace: 'kube-node-lease' });
  let renewing = Promise.resolve();
  const timer = clock.setInterval(() => {
    renewing = renewing.then(() =>
      client
        .for(Leases)
        .patch(name, { spec: spec() }, { type: 'merge', namespace: 'kube-node-lease' })
        .then(
          () => undefined,
          () => undefined,
        ),
    );
  }, 10_000);
  const node = { stop: () => timer.cancel() };
  stopHeartbeats.push(node.stop);
  return node;
}

const template = (app: string, nodeName?: string) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'main', image: 'web' }], ...(nodeName ? { nodeName } : {}) },
});

async function makeReady(pod: Pod, ip: string): Promise<void> {
  const status = {
    phase: 'Running',
    podIP: ip,
    podIPs: [{ ip }],
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: formatTime(clock.now()) }],
  };
  await manager.client
    .for(Pods)
    .patch(pod.metadata.name, { status }, { type: 'strategic', subresource: 'status', namespace });
}

const podsOf = async (app: string): Promise<Pod[]> =>
  (await manager.client.for(Pods).list({ namespace, labelSelector: `app=${app}` })).items;
const nodeOf = (name: string): Promise<Node> => manager.client.for(Nodes).get(name);
const taintsOf = async (name: string) =>
  ((await nodeOf(name)).spec.taints ?? []).map((t) => `${t.key}:${t.effect}`).sort();

describe('C27 a node that falls silent', () => {
  let lost: { stop(): void };

  beforeAll(async () => {
    const { client } = manager;
    await startNode('n1');
    lost = await startNode('n2');
    const selector = (app: string) => ({ matchLabels: { app } });
    // Nothing schedules here: the templates say where their Pods are.
    await client.for(Deployments).create(
      {
        metadata: { name: 'web' },
        spec: { replicas: 1, selector: selector('web'), template: template('web', 'n2') },
      },
      { namespace },
    );
    await client.for(StatefulSets).create(
      {
        metadata: { name: 'db' },
        spec: { replicas: 1, serviceName: 'db', selector: selector('db'), template: template('db', 'n2') },
      },
      { namespace },
    );
    await client
      .for(DaemonSets)
      .create(
        { metadata: { name: 'agent' }, spec: { selector: selector('agent'), template: template('agent') } },
        { namespace },
      );
    await client
      .for(Services)
      .create(
        { metadata: { name: 'web' }, spec: { selector: { app: 'web' }, ports: [{ port: 80 }] } },
        { namespace },
      );
    const [web] = await eventually(async () => {
      const pods = await podsOf('web');
      expect(pods).toHaveLength(1);
      return pods;
    });
    if (web) await makeReady(web, '10.244.1.9');
    const [db] = await eventually(async () => {
      const pods = await podsOf('db');
      expect(pods).toHaveLength(1);
      return pods;
    });
    if (db) await makeReady(db, '10.244.1.10');
  });

  const readyEndpoints = async () => {
    const { items } = await manager.client
      .for(EndpointSlices)
      .list({ namespace, labelSelector: 'kubernetes.io/service-name=web' });
    return items.flatMap((s) => s.endpoints ?? []).filter((e) => e.conditions?.ready).length;
  };

  it('becomes Unknown after the grace period, is tainted, and its Pods leave their Services', async () => {
    await eventually(async () => expect(await readyEndpoints()).toBe(1));
    clock.speed = 20;
    lost.stop();
    await eventually(async () => {
      const condition = findCondition((await nodeOf('n2')).status?.conditions, 'Ready');
      expect(condition).toMatchObject({
        status: 'Unknown',
        reason: 'NodeStatusUnknown',
        message: 'Kubelet stopped posting node status.',
      });
    }, fastTime);
    // On a busy machine the 300 s of its Pods would be over before they are looked at.
    await clock.slowDown();
    await eventually(async () =>
      expect(await taintsOf('n2')).toEqual([
        'node.kubernetes.io/unreachable:NoExecute',
        'node.kubernetes.io/unreachable:NoSchedule',
      ]),
    );
    await eventually(async () => {
      const [web] = await podsOf('web');
      expect(findCondition(web?.status?.conditions, 'Ready')?.status).toBe('False');
      expect(web?.status?.phase).toBe('Running');
      expect(await readyEndpoints()).toBe(0);
    });
    expect(await taintsOf('n1')).toEqual([]);
  });

  it('is told of once: a Pod whose kubelet says that it is ready stays so', async () => {
    const [web] = await podsOf('web');
    if (web) await makeReady(web, '10.244.1.9');
    // Its health is looked at several times.
    const end = clock.now() + 20_000;
    clock.speed = 20;
    await eventually(() => Promise.resolve(expect(clock.now()).toBeGreaterThan(end)), fastTime);
    await clock.slowDown();
    const [after] = await podsOf('web');
    expect(findCondition(after?.status?.conditions, 'Ready')?.status).toBe('True');
  });

  it('loses its Pods after their 300 s: a Deployment makes another, a StatefulSet waits, a DaemonSet keeps its own', async () => {
    clock.speed = 60;
    const [db] = await eventually(async () => {
      const pods = await podsOf('db');
      expect(pods[0]?.metadata.deletionTimestamp).toBeDefined();
      return pods;
    }, fastTime);
    await clock.slowDown();
    expect(findCondition(db?.status?.conditions, 'DisruptionTarget')).toMatchObject({
      status: 'True',
      reason: 'DeletionByTaintManager',
      message: 'Taint manager: deleting due to NoExecute taint',
    });
    expect(await podsOf('db')).toHaveLength(1);
    await eventually(async () => expect((await podsOf('web')).length).toBeGreaterThanOrEqual(2));
    const agents = await podsOf('agent');
    expect(agents.filter((p) => p.metadata.deletionTimestamp)).toEqual([]);
    expect(agents.length).toBeGreaterThanOrEqual(1);
  });

  it('is gone for good when it is deleted: its Pods are failed and removed, and the StatefulSet makes its own anew', async () => {
    const [before] = await podsOf('db');
    await manager.client.for(Nodes).delete('n2');
    clock.speed = 20;
    await eventually(async () => {
      const [db] = await podsOf('db');
      expect(db?.metadata.uid).not.toBe(before?.metadata.uid);
      expect(db?.metadata.name).toBe('db-0');
    }, fastTime);
    await clock.slowDown();
    expect(await isGone(manager.client.for(Nodes).get('n2'))).toBe(true);
  });
});

describe('C27 all nodes fall silent', () => {
  it('evicts nothing: the mark of the first is taken off when the last is lost, and its Pods stay', async () => {
    const { client } = manager;
    const second = await startNode('n3');
    const [web] = await eventually(async () => {
      const pod = {
        metadata: { name: 'stays', labels: { app: 'stays' } },
        spec: template('stays', 'n3').spec,
      };
      await client.for(Pods).create(pod, { namespace });
      return podsOf('stays');
    });
    if (web) await makeReady(web, '10.244.1.11');
    clock.speed = 20;
    second.stop();
    await eventually(
      async () => expect(await taintsOf('n3')).toContain('node.kubernetes.io/unreachable:NoExecute'),
      fastTime,
    );
    for (const stop of stopHeartbeats) stop();
    const marked = ['node.kubernetes.io/unreachable:NoSchedule'];
    await eventually(
      async () => expect([await taintsOf('n1'), await taintsOf('n3')]).toEqual([marked, marked]),
      fastTime,
    );
    // Twice as long as its tolerations last.
    const end = clock.now() + 600_000;
    clock.speed = 200;
    await eventually(() => Promise.resolve(expect(clock.now()).toBeGreaterThan(end)), fastTime);
    await clock.slowDown();
    const [pod] = await podsOf('stays');
    expect([pod?.metadata.deletionTimestamp, pod?.status?.phase]).toEqual([undefined, 'Running']);
    expect([await taintsOf('n1'), await taintsOf('n3')]).toEqual([marked, marked]);
  });
});

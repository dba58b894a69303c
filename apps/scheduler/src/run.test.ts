import { Events, Pods, PriorityClasses, type PriorityClass } from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import { eventually, type StartedComponent } from '@tinkernetes/component-base/testing';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import { asking, createPod, createReadyNode, getPod } from './testing/api-objects';
import { startScheduler } from './testing/running-scheduler';

describe('scheduler against a real API server', () => {
  let server: TestApiServer;
  let client: Client;
  let scheduler: StartedComponent;
  const podNamed = (name: string) => getPod(client, name);

  beforeAll(async () => {
    server = await startApiServer({ flags: ['--disable-admission-plugins=ServiceAccount'] });
    client = createClient(server.adminConfig);
    // As in a cluster: with the rights that RBAC gives the scheduler, and no more.
    const config = await server.configFor('system:kube-scheduler');
    scheduler = await startScheduler(config, ['--leader-elect=false', '--debug-port=0']);
  });
  afterAll(async () => {
    await scheduler.stop();
    client.close();
    await server.stop();
  });

  it('says that there are no nodes, and binds the Pod once one comes', async () => {
    await createPod(client, 'early');
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
    await createReadyNode(client, 'node-1');
    await eventually(async () => expect((await podNamed('early')).spec?.nodeName).toBe('node-1'));
    await eventually(async () => {
      const { items } = await client.for(Events).list({ namespace: 'default' });
      const messages = items
        .filter(({ involvedObject }) => involvedObject.name === 'early')
        .map(({ message }) => message);
      expect(messages).toEqual([
        'no nodes available to schedule pods',
        '0/1 nodes are available: 1 node(s) had untolerated taint(s). ' +
          'no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
        'Successfully assigned default/early to node-1',
      ]);
    });
  });

  it('evicts a less important Pod to make room for one that fits nowhere', async () => {
    const priorityClass = { metadata: { name: 'high' }, value: 1000 } as PriorityClass;
    await client.for(PriorityClasses).create(priorityClass);
    await createPod(client, 'low', asking('1500m'));
    await eventually(async () => expect((await podNamed('low')).spec?.nodeName).toBe('node-1'));
    await createPod(client, 'waiting', asking('1500m'));
    await eventually(async () => {
      const condition = (await podNamed('waiting')).status?.conditions?.find(
        ({ type }) => type === 'PodScheduled',
      );
      expect(condition?.message).toBe(
        '0/1 nodes are available: 1 Insufficient cpu. ' +
          'no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.',
      );
    });
    await createPod(client, 'important', { ...asking('1500m'), priorityClassName: 'high' });
    await eventually(async () => {
      const victim = await podNamed('low');
      expect(victim.metadata.deletionTimestamp).toBeDefined();
      expect(victim.status?.conditions?.map(({ type }) => type)).toContain('DisruptionTarget');
      expect((await podNamed('important')).status?.nominatedNodeName).toBe('node-1');
    });
    // What the kubelet does when the containers have stopped.
    await client.for(Pods).delete('low', { namespace: 'default', gracePeriodSeconds: 0 });
    await eventually(async () => expect((await podNamed('important')).spec?.nodeName).toBe('node-1'));
    expect((await podNamed('waiting')).spec?.nodeName).toBeUndefined();
    const { items } = await client.for(Events).list({ namespace: 'default' });
    const important = await podNamed('important');
    const preempted = items.find(({ reason }) => reason === 'Preempted');
    expect(preempted?.message).toBe(`Preempted by pod ${important.metadata.uid} on node node-1`);
  });

  it('explains its last attempt for a Pod: why each node was refused', async () => {
    const url = `http://127.0.0.1:${String(scheduler.info.debugPort)}/debug/scheduler`;
    const show = async (path: string) =>
      (await fetch(`${url}/${path}`, { headers: { connection: 'close' } })).json() as Promise<unknown>;
    expect(await show('attempts/default/waiting')).toMatchObject({
      pod: 'default/waiting',
      result: 'unschedulable',
      refusals: [{ node: 'node-1', plugin: 'NodeResourcesFit', reasons: ['Insufficient cpu'] }],
    });
    expect(await show('attempts/default/early')).toMatchObject({ result: 'scheduled', node: 'node-1' });
    expect(await show('queue')).toEqual([
      { queue: 'unschedulable', pod: 'default/waiting', attempts: expect.any(Number) as number },
    ]);
    expect(await show('cache')).toMatchObject([{ node: 'node-1', pods: 2, requested: { cpu: '1500m' } }]);
  });
});

import {
  CronJobs,
  CustomResourceDefinitions,
  Deployments,
  EndpointSlices,
  Events,
  PersistentVolumeClaims,
  PodDisruptionBudgets,
  Pods,
  ReplicaSets,
  ResourceQuotas,
  Services,
  type KubeObject,
  type ResourceDescriptor,
} from '@tinkernetes/api';
import { findCondition, isNotFound } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import { eventually } from '@tinkernetes/component-base/testing';
import { fastTime, ScaledClock } from './testing/scaled-clock';
import { podActor, startTestManager, type TestManager } from './testing/test-manager';

const namespace = 'default';
const clock = new ScaledClock();
let manager: TestManager;
let actor: ReturnType<typeof podActor>;

interface Widget extends KubeObject {
  spec: { replicas: number };
}
const Widgets: ResourceDescriptor<Widget> = {
  group: 'depot.test',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
};

beforeAll(async () => {
  manager = await startTestManager({ clock });
  actor = podActor(manager.client, namespace);
  await manager.client.for(CustomResourceDefinitions).create({
    metadata: { name: 'widgets.depot.test' },
    spec: {
      group: 'depot.test',
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          subresources: {
            scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
          },
        },
      ],
    },
  });
  await eventually(() => manager.client.for(Widgets).list({ namespace }));
});
afterAll(async () => {
  await clock.slowDown();
  await manager?.stop();
  await clock.stop();
});
const eventsOf = async (name: string) =>
  (await manager.client.for(Events).list({ namespace })).items
    .filter((e) => e.involvedObject.name === name)
    .map((e) => `${e.type} ${e.reason}: ${e.message ?? ''}`);
const isGone = (get: Promise<unknown>) => get.then(() => false, isNotFound);
const spec = { containers: [{ name: 'main', image: 'web' }] };
const template = (app: string) => ({ metadata: { labels: { app } }, spec });

it('a selector that matches nothing gives an empty slice, and a budget that says so', async () => {
  const { client } = manager;
  await client
    .for(Services)
    .create(
      { metadata: { name: 'nobody' }, spec: { selector: { app: 'nobody' }, ports: [{ port: 80 }] } },
      { namespace },
    );
  await client.for(PodDisruptionBudgets).create(
    {
      metadata: { name: 'nobody' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'nobody' } } },
    },
    { namespace },
  );
  await eventually(async () => {
    const { items } = await client
      .for(EndpointSlices)
      .list({ namespace, labelSelector: 'kubernetes.io/service-name=nobody' });
    expect(items.map((s) => s.endpoints ?? [])).toEqual([[]]);
    const { status } = await client.for(PodDisruptionBudgets).get('nobody', { namespace });
    expect(status).toMatchObject({ expectedPods: 0, disruptionsAllowed: 0 });
    expect(await eventsOf('nobody')).toContain('Normal NoPods: No matching pods found');
  });
});

it('an object whose owner is gone is deleted, one of another whose owner is there is not', async () => {
  const { client } = manager;
  const owner = await client.for(ReplicaSets).create(
    {
      metadata: { name: 'there' },
      spec: { replicas: 0, selector: { matchLabels: { app: 'x' } }, template: template('x') },
    },
    { namespace },
  );
  const owned = (name: string, ownerName: string, uid: string) =>
    client.for(Pods).create(
      {
        metadata: {
          name,
          ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: ownerName, uid }],
        },
        spec,
      },
      { namespace },
    );
  await owned('orphan', 'gone', '00000000-0000-0000-0000-000000000001');
  await owned('child', 'there', owner.metadata.uid ?? '');
  await eventually(async () =>
    expect(await isGone(client.for(Pods).get('orphan', { namespace }))).toBe(true),
  );
  expect((await client.for(Pods).get('child', { namespace })).metadata.deletionTimestamp).toBeUndefined();
});

it('a schedule that never fires starts nothing, and keeps no other from its Jobs', async () => {
  const { client } = manager;
  const create = (name: string, schedule: string) =>
    client.for(CronJobs).create(
      {
        metadata: { name },
        spec: {
          schedule,
          jobTemplate: { spec: { template: { spec: { ...spec, restartPolicy: 'Never' } } } },
        },
      },
      { namespace },
    );
  await create('never', '0 0 31 2 *');
  await create('often', '@every 1s');
  await eventually(async () => {
    const often = await client.for(CronJobs).get('often', { namespace });
    expect(often.status?.lastScheduleTime).toBeDefined();
  });
  const never = await client.for(CronJobs).get('never', { namespace });
  expect([never.status?.lastScheduleTime, never.status?.active]).toEqual([undefined, undefined]);
  await eventually(async () =>
    expect(await eventsOf('never')).toEqual([
      'Warning InvalidSchedule: invalid schedule: 0 0 31 2 * : time difference between two schedules is less than 1 second',
    ]),
  );
  // Where the time that was written is lost, the Job itself tells it.
  await client
    .for(CronJobs)
    .patch(
      'often',
      { status: { lastScheduleTime: null } },
      { type: 'merge', subresource: 'status', namespace },
    );
  await eventually(async () => {
    const often = await client.for(CronJobs).get('often', { namespace });
    expect(often.status?.lastScheduleTime).toBeDefined();
  });
  await client.for(CronJobs).delete('often', { namespace, propagationPolicy: 'Background' });
});

it('a claim of an unknown class waits, and says for what', async () => {
  const { client } = manager;
  await client.for(PersistentVolumeClaims).create(
    {
      metadata: { name: 'unknown' },
      spec: {
        storageClassName: 'nowhere',
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
      },
    },
    { namespace },
  );
  await eventually(async () =>
    expect(await eventsOf('unknown')).toContain(
      'Warning ProvisioningFailed: storageclass.storage.k8s.io "nowhere" not found',
    ),
  );
  expect((await client.for(PersistentVolumeClaims).get('unknown', { namespace })).status?.phase).toBe(
    'Pending',
  );
});

it('a Deployment whose Pods are refused says so, and others go on', async () => {
  const { client } = manager;
  await client
    .for(ResourceQuotas)
    .create({ metadata: { name: 'full' }, spec: { hard: { 'limits.cpu': '1' } } }, { namespace });
  await eventually(async () => {
    const { status } = await client.for(ResourceQuotas).get('full', { namespace });
    expect(status?.hard).toEqual({ 'limits.cpu': '1' });
  });
  const limited = {
    ...spec,
    containers: [{ name: 'main', image: 'web', resources: { limits: { cpu: '100m' } } }],
  };
  const create = (name: string, podSpec: object) =>
    client.for(Deployments).create(
      {
        metadata: { name },
        spec: {
          replicas: 1,
          selector: { matchLabels: { app: name } },
          template: { metadata: { labels: { app: name } }, spec: podSpec as typeof spec },
        },
      },
      { namespace },
    );
  await Promise.all([create('refused', spec), create('accepted', limited)]);
  await eventually(async () => {
    const { status } = await client.for(Deployments).get('refused', { namespace });
    const failure = status?.conditions?.find((c) => c.type === 'ReplicaFailure');
    expect(failure).toMatchObject({ status: 'True', reason: 'FailedCreate' });
    expect(failure?.message).toContain('failed quota: full: must specify limits.cpu for: main');
    expect(await actor.list('app=accepted')).toHaveLength(1);
  });
  await client.for(ResourceQuotas).delete('full', { namespace });
  clock.speed = 50;
  await eventually(async () => expect(await actor.list('app=refused')).toHaveLength(1), fastTime);
  await clock.slowDown();
});

it('a budget by percentage counts no Pod without a controller, and says so; one whose controller is gone is an error', async () => {
  const { client } = manager;
  const budgetOf = (name: string) =>
    client
      .for(PodDisruptionBudgets)
      .create(
        { metadata: { name }, spec: { minAvailable: '50%', selector: { matchLabels: { app: name } } } },
        { namespace },
      );
  const controller = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: 'nobody',
    uid: 'u',
    controller: true,
  };
  await client.for(Pods).create({ metadata: { name: 'bare', labels: { app: 'bare' } }, spec }, { namespace });
  await budgetOf('bare');
  await eventually(async () => {
    const events = await eventsOf('bare');
    expect(events.filter((event) => event.startsWith('Warning UnmanagedPods: '))).toHaveLength(1);
    const { status } = await client.for(PodDisruptionBudgets).get('bare', { namespace });
    expect(status).toMatchObject({ expectedPods: 0, desiredHealthy: 0, disruptionsAllowed: 0 });
  });
  // A finalizer keeps it from the garbage collector.
  const metadata = {
    name: 'lost',
    labels: { app: 'lost' },
    ownerReferences: [controller],
    finalizers: ['depot.test/hold'],
  };
  await client.for(Pods).create({ metadata, spec }, { namespace });
  await budgetOf('lost');
  await eventually(async () => {
    const message = 'found no controllers for pod "lost"';
    expect(await eventsOf('lost')).toContain(
      `Warning CalculateExpectedPodCountFailed: Failed to calculate the number of expected pods: ${message}`,
    );
    const { status } = await client.for(PodDisruptionBudgets).get('lost', { namespace });
    expect(status?.conditions).toMatchObject([
      { type: 'DisruptionAllowed', status: 'False', reason: 'SyncFailed', message },
    ]);
  });
  await client.for(Pods).patch('lost', { metadata: { finalizers: null } }, { type: 'merge', namespace });
});

it('a Pod that is said to be disrupted, and stays, is told after two minutes that it is not', async () => {
  const pods = manager.client.for(Pods);
  await pods.create({ metadata: { name: 'spared' }, spec }, { namespace });
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    lastTransitionTime: formatTime(clock.now() - 600_000),
  };
  const options = { type: 'strategic', subresource: 'status', namespace } as const;
  await pods.patch('spared', { status: { conditions: [condition] } }, options);
  await eventually(async () => {
    const { status } = await pods.get('spared', { namespace });
    const found = findCondition(status?.conditions, 'DisruptionTarget');
    expect([found?.status, found?.reason]).toEqual(['False', undefined]);
  });
});

describe('with a custom kind', () => {
  it('a budget asks its scale how many Pods are expected', async () => {
    const { client } = manager;
    const widget = await client
      .for(Widgets)
      .create({ metadata: { name: 'w' }, spec: { replicas: 4 } }, { namespace });
    const ownerReferences = [
      {
        apiVersion: 'depot.test/v1',
        kind: 'Widget',
        name: 'w',
        uid: widget.metadata.uid ?? '',
        controller: true,
      },
    ];
    const pod = await client
      .for(Pods)
      .create({ metadata: { name: 'w-0', labels: { app: 'w' }, ownerReferences }, spec }, { namespace });
    await actor.makeReady(pod);
    await client
      .for(PodDisruptionBudgets)
      .create(
        { metadata: { name: 'w' }, spec: { minAvailable: '50%', selector: { matchLabels: { app: 'w' } } } },
        { namespace },
      );
    await eventually(async () => {
      const { status } = await client.for(PodDisruptionBudgets).get('w', { namespace });
      expect(status).toMatchObject({
        expectedPods: 4,
        desiredHealthy: 2,
        currentHealthy: 1,
        disruptionsAllowed: 0,
      });
    });
  });

  it('a quota counts its objects, and gives back what is deleted', async () => {
    const { client } = manager;
    const name = 'count/widgets.depot.test';
    await client
      .for(ResourceQuotas)
      .create({ metadata: { name: 'widgets' }, spec: { hard: { [name]: '5' } } }, { namespace });
    const used = async () =>
      (await client.for(ResourceQuotas).get('widgets', { namespace })).status?.used?.[name];
    const { items } = await client.for(Widgets).list({ namespace });
    await eventually(async () => expect(await used()).toBe(String(items.length)));
    await client.for(Widgets).create({ metadata: { name: 'more' }, spec: { replicas: 1 } }, { namespace });
    await eventually(async () => expect(await used()).toBe(String(items.length + 1)));
    await client.for(Widgets).delete('more', { namespace });
    await eventually(async () => expect(await used()).toBe(String(items.length)));
  });

  it('dependents go with their owner', async () => {
    const { client } = manager;
    const boss = await client
      .for(Widgets)
      .create({ metadata: { name: 'boss' }, spec: { replicas: 0 } }, { namespace });
    const ownerReferences = [
      { apiVersion: 'depot.test/v1', kind: 'Widget', name: 'boss', uid: boss.metadata.uid ?? '' },
    ];
    await client
      .for(Widgets)
      .create({ metadata: { name: 'kid', ownerReferences }, spec: { replicas: 0 } }, { namespace });
    await client.for(Widgets).delete('boss', { namespace });
    await eventually(async () =>
      expect(await isGone(client.for(Widgets).get('kid', { namespace }))).toBe(true),
    );
  });
});

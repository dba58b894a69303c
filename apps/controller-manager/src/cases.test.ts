import {
  ConfigMaps,
  Deployments,
  EndpointsResource,
  EndpointSlices,
  Events,
  Jobs,
  Pods,
  ReplicationControllers,
  Services,
  StatefulSets,
  type Deployment,
  type Job,
  type Pod,
} from '@tinkernetes/api';
import { findCondition, isInvalid, isNotFound } from '@tinkernetes/apimachinery';
import { eventually } from '@tinkernetes/component-base/testing';
import { fastTime, ScaledClock } from './testing/scaled-clock';
import { podActor, startTestManager, type TestManager } from './testing/test-manager';

const namespace = 'default';
const clock = new ScaledClock();
let manager: TestManager;
let actor: ReturnType<typeof podActor>;

beforeAll(async () => {
  manager = await startTestManager({ clock });
  actor = podActor(manager.client, namespace);
});
afterAll(async () => {
  await clock.slowDown();
  await manager?.stop();
  await clock.stop();
});

const template = (app: string, image = 'web:1', extra: object = {}) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'main', image, ports: [{ name: 'http', containerPort: 8080 }] }], ...extra },
});
const podsOf = (app: string) => actor.list(`app=${app}`);
const some = (app: string, count: number): Promise<Pod[]> =>
  eventually(async () => {
    const pods = (await podsOf(app)).filter((p) => !p.metadata.deletionTimestamp);
    expect(pods).toHaveLength(count);
    return pods;
  });
const eventsOf = async (name: string) =>
  (await manager.client.for(Events).list({ namespace })).items
    .filter((e) => e.involvedObject.name === name)
    .map((e) => `${e.reason}: ${e.message ?? ''}`);
const rejected = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );
const isGone = (get: Promise<unknown>) => get.then(() => false, isNotFound);

describe('C14 finalizers', () => {
  it('keep an object until the last one is removed, and take no new ones meanwhile', async () => {
    const maps = manager.client.for(ConfigMaps);
    await maps.create({ metadata: { name: 'f', finalizers: ['depot.test/a'] } }, { namespace });
    const first = (await maps.delete('f', { namespace })) as { metadata: { deletionTimestamp?: string } };
    expect(first.metadata).toMatchObject({ deletionGracePeriodSeconds: 0 });
    expect(first.metadata.deletionTimestamp).toBeDefined();
    const present = await maps.get('f', { namespace });
    await maps.delete('f', { namespace });
    expect(await maps.get('f', { namespace })).toEqual(present);
    const more = { ...present.metadata, finalizers: ['depot.test/a', 'depot.test/b'] };
    expect(await rejected(maps.update({ ...present, metadata: more }, { namespace }))).toMatchObject({
      message: expect.stringContaining(
        'no new finalizers can be added if the object is being deleted, found new finalizers []string{"depot.test/b"}',
      ) as string,
    });
    const patched = await maps.patch('f', { metadata: { finalizers: null } }, { type: 'merge', namespace });
    expect(patched.metadata.name).toBe('f');
    expect(await isGone(maps.get('f', { namespace }))).toBe(true);
  });
});

describe('C17 endpoints', () => {
  const slices = async (service: string) =>
    (
      await manager.client
        .for(EndpointSlices)
        .list({ namespace, labelSelector: `kubernetes.io/service-name=${service}` })
    ).items;
  const conditions = async (service: string) =>
    (await slices(service)).flatMap((s) => s.endpoints ?? []).map((e) => e.conditions);

  it('of a Pod that ends but still serves, and of one that is not ready where all are published', async () => {
    const { client } = manager;
    await client.for(Services).create(
      {
        metadata: { name: 'front' },
        spec: { selector: { app: 'front' }, ports: [{ port: 80, targetPort: 'http' }] },
      },
      { namespace },
    );
    const create = (name: string) =>
      client
        .for(Pods)
        .create({ ...template('front'), metadata: { name, labels: { app: 'front' } } }, { namespace });
    const [one, two] = await Promise.all([create('one'), create('two')]);
    await actor.makeReady(one);
    await eventually(async () =>
      expect(await conditions('front')).toEqual([{ ready: true, serving: true, terminating: false }]),
    );
    // Bound to a node, so that its end is not at once.
    await client
      .for(Pods)
      .subresource(
        'POST',
        'one',
        'binding',
        { metadata: { name: 'one' }, target: { kind: 'Node', name: 'n' } },
        { namespace },
      );
    await client.for(Pods).delete('one', { namespace, gracePeriodSeconds: 30 });
    await eventually(async () =>
      expect(await conditions('front')).toEqual([{ ready: false, serving: true, terminating: true }]),
    );
    await actor.reap('app=front');
    await client
      .for(Services)
      .patch('front', { spec: { publishNotReadyAddresses: true } }, { type: 'merge', namespace });
    await actor.makeReady(two);
    await actor.makeUnready(two);
    await eventually(async () => {
      expect(await conditions('front')).toEqual([{ ready: true, serving: false, terminating: false }]);
      const endpoints = await client.for(EndpointsResource).get('front', { namespace });
      expect(endpoints.subsets?.[0]?.addresses).toHaveLength(1);
    });
  });
});

describe('C21 a rolling update', () => {
  const create = (name: string, replicas: number, spec: Partial<Deployment['spec']> = {}) =>
    manager.client.for(Deployments).create(
      {
        metadata: { name },
        spec: { replicas, selector: { matchLabels: { app: name } }, template: template(name), ...spec },
      },
      { namespace },
    );
  const roll = (name: string) =>
    manager.client
      .for(Deployments)
      .patch(name, { spec: { template: template(name, 'web:2') } }, { type: 'strategic', namespace });

  it('keeps the old Pod until the new one is ready, and says when there is no progress', async () => {
    await create('one', 1, { progressDeadlineSeconds: 60 });
    const [old] = await some('one', 1);
    if (old) await actor.makeReady(old);
    await eventually(async () => {
      const { status } = await manager.client.for(Deployments).get('one', { namespace });
      expect(findCondition(status?.conditions, 'Progressing')?.reason).toBe('NewReplicaSetAvailable');
    });
    await roll('one');
    const pods = await some('one', 2);
    expect(pods.map((p) => p.metadata.name)).toContain(old?.metadata.name);
    clock.speed = 100;
    await eventually(async () => {
      const { status } = await manager.client.for(Deployments).get('one', { namespace });
      expect(findCondition(status?.conditions, 'Progressing')).toMatchObject({
        status: 'False',
        reason: 'ProgressDeadlineExceeded',
      });
    }, fastTime);
    await clock.slowDown();
    expect(await podsOf('one')).toHaveLength(2);
  });

  it('is refused with neither surge nor unavailable Pods', async () => {
    for (const none of [0, '0%']) {
      const strategy = {
        type: 'RollingUpdate' as const,
        rollingUpdate: { maxSurge: none, maxUnavailable: none },
      };
      expect(isInvalid(await rejected(create('none', 1, { strategy })))).toBe(true);
    }
  });
});

describe('C23 a StatefulSet', () => {
  const create = (name: string, spec: object = {}) =>
    manager.client.for(StatefulSets).create(
      {
        metadata: { name },
        spec: {
          replicas: 3,
          serviceName: name,
          selector: { matchLabels: { app: name } },
          template: template(name),
          podManagementPolicy: 'Parallel',
          ...spec,
        },
      },
      { namespace },
    );
  const imagesOf = async (app: string) =>
    Object.fromEntries((await podsOf(app)).map((p) => [p.metadata.name, p.spec.containers[0]?.image]));

  it('with a partition of 2 updates only the last Pod; others come back as they were', async () => {
    await create('part', { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } });
    for (const pod of await some('part', 3)) await actor.makeReady(pod);
    await manager.client
      .for(StatefulSets)
      .patch('part', { spec: { template: template('part', 'web:2') } }, { type: 'strategic', namespace });
    await eventually(async () => {
      await actor.reap('app=part');
      expect(await imagesOf('part')).toEqual({ 'part-0': 'web:1', 'part-1': 'web:1', 'part-2': 'web:2' });
    });
    const [before] = (await podsOf('part')).filter((p) => p.metadata.name === 'part-0');
    await manager.client.for(Pods).delete('part-0', { namespace, gracePeriodSeconds: 0 });
    await eventually(async () => {
      const [pod] = (await podsOf('part')).filter((p) => p.metadata.name === 'part-0');
      expect(pod?.metadata.uid).not.toBe(before?.metadata.uid);
      expect(pod?.spec.containers[0]?.image).toBe('web:1');
    });
  });

  it('deletes and makes anew a Pod that has ended, failed or not', async () => {
    await create('ends', { replicas: 2 });
    const pods = await some('ends', 2);
    await Promise.all(pods.map((pod, i) => actor.finish(pod, i)));
    const uids = pods.map((p) => p.metadata.uid);
    await eventually(async () => {
      await actor.reap('app=ends');
      const now = await podsOf('ends');
      expect(now.map((p) => p.metadata.name).sort()).toEqual(['ends-0', 'ends-1']);
      expect(now.filter((p) => uids.includes(p.metadata.uid))).toEqual([]);
    });
  });

  it('leaves only some fields open', async () => {
    const error = await rejected(
      manager.client
        .for(StatefulSets)
        .patch('part', { spec: { serviceName: 'other' } }, { type: 'merge', namespace }),
    );
    expect(error).toMatchObject({
      message: expect.stringContaining(
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
      ) as string,
    });
  });
});

describe('C25 a Job', () => {
  const create = (name: string, spec: Partial<Job['spec']>, restartPolicy = 'Never') =>
    manager.client
      .for(Jobs)
      .create(
        { metadata: { name }, spec: { template: template(name, 'web:1', { restartPolicy }), ...spec } },
        { namespace },
      );
  const failure = async (name: string) =>
    findCondition((await manager.client.for(Jobs).get(name, { namespace })).status?.conditions, 'Failed');

  it('(b) with OnFailure counts the restarts of a running Pod, and deletes it', async () => {
    await create('restarts', { backoffLimit: 2 }, 'OnFailure');
    const [pod] = await some('restarts', 1);
    if (pod) await actor.makeUnready(pod, 3);
    await eventually(async () => {
      await actor.reap('app=restarts');
      expect(await failure('restarts')).toMatchObject({ reason: 'BackoffLimitExceeded' });
      expect(await podsOf('restarts')).toEqual([]);
    });
  });

  it('(d) replaces an evicted Pod and does not count it', async () => {
    await create('evicted', {
      backoffLimit: 0,
      podFailurePolicy: {
        rules: [
          { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
          { action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } },
        ],
      },
    });
    const [pod] = await some('evicted', 1);
    if (pod)
      await actor.finish(pod, 42, [
        { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' },
      ]);
    clock.speed = 20;
    await eventually(async () => {
      const fresh = (await podsOf('evicted')).filter((p) => p.metadata.uid !== pod?.metadata.uid);
      expect(fresh).toHaveLength(1);
    }, fastTime);
    await clock.slowDown();
    const job = await manager.client.for(Jobs).get('evicted', { namespace });
    expect([job.status?.failed ?? 0, await failure('evicted')]).toEqual([0, undefined]);
  });

  it('(f) lets parallelism and suspend change, and neither template, selector nor completions', async () => {
    await create('fixed', { completions: 3, parallelism: 1 });
    const patch = (spec: object) =>
      manager.client.for(Jobs).patch('fixed', { spec }, { type: 'merge', namespace });
    expect((await patch({ parallelism: 2 })).spec.parallelism).toBe(2);
    expect((await patch({ suspend: true })).spec.suspend).toBe(true);
    for (const spec of [
      { template: { spec: { restartPolicy: 'OnFailure' } } },
      { completions: 4 },
      { selector: { matchLabels: { a: 'b' } } },
    ])
      expect(await rejected(patch(spec))).toMatchObject({
        reason: 'Invalid',
        message: expect.stringContaining('field is immutable') as string,
      });
  });

  it('(f) that is Indexed and elastic changes completions together with parallelism', async () => {
    await create('elastic', { completions: 2, parallelism: 2, completionMode: 'Indexed' });
    const spec = { completions: 3, parallelism: 3 };
    const patched = await manager.client.for(Jobs).patch('elastic', { spec }, { type: 'merge', namespace });
    expect(patched.spec).toMatchObject(spec);
  });
});

describe('a ReplicationController', () => {
  it('keeps its Pods by a selector that is a map, and lets go one whose labels no longer match', async () => {
    const { client } = manager;
    await client.for(ReplicationControllers).create(
      {
        metadata: { name: 'rc' },
        spec: { replicas: 2, selector: { app: 'rc' }, template: template('rc') },
      },
      { namespace },
    );
    const [first] = await some('rc', 2);
    const name = first?.metadata.name ?? '';
    await client
      .for(Pods)
      .patch(name, { metadata: { labels: { app: 'other' } } }, { type: 'merge', namespace });
    const pods = await some('rc', 2);
    expect(pods.map((p) => p.metadata.name)).not.toContain(name);
    await eventually(async () =>
      expect((await client.for(Pods).get(name, { namespace })).metadata.ownerReferences).toBeUndefined(),
    );
    for (const pod of pods) await actor.makeReady(pod);
    await eventually(async () => {
      const { status } = await client.for(ReplicationControllers).get('rc', { namespace });
      expect(status).toMatchObject({
        replicas: 2,
        readyReplicas: 2,
        availableReplicas: 2,
        observedGeneration: 1,
      });
    });
    await client
      .for(ReplicationControllers)
      .patch('rc', { spec: { replicas: 0 } }, { type: 'merge', namespace });
    await eventually(async () => {
      await actor.reap('app=rc');
      expect(await podsOf('rc')).toEqual([]);
    });
    expect(await eventsOf('rc')).toEqual(
      expect.arrayContaining([expect.stringMatching(/^SuccessfulDelete: Deleted pod: rc-/)]),
    );
  });
});

describe('endpoints that a user makes', () => {
  it('are mirrored to slices, as they change and until they go', async () => {
    const { client } = manager;
    await client
      .for(Services)
      .create({ metadata: { name: 'outside' }, spec: { ports: [{ port: 443 }] } }, { namespace });
    const subsets = (...ips: string[]) => [{ addresses: ips.map((ip) => ({ ip })), ports: [{ port: 443 }] }];
    await client
      .for(EndpointsResource)
      .create({ metadata: { name: 'outside' }, subsets: subsets('192.0.2.1') }, { namespace });
    const addresses = async () => {
      const { items } = await client
        .for(EndpointSlices)
        .list({ namespace, labelSelector: 'kubernetes.io/service-name=outside' });
      expect(items.map((s) => s.metadata.labels?.['endpointslice.kubernetes.io/managed-by'])).toEqual(
        items.map(() => 'endpointslicemirroring-controller.k8s.io'),
      );
      return items
        .flatMap((s) => s.endpoints ?? [])
        .flatMap((e) => e.addresses)
        .sort();
    };
    await eventually(async () => expect(await addresses()).toEqual(['192.0.2.1']));
    await client
      .for(EndpointsResource)
      .patch('outside', { subsets: subsets('192.0.2.1', '192.0.2.2') }, { type: 'merge', namespace });
    await eventually(async () => expect(await addresses()).toEqual(['192.0.2.1', '192.0.2.2']));
    await client.for(EndpointsResource).delete('outside', { namespace });
    await eventually(async () => expect(await addresses()).toEqual([]));
  });
});

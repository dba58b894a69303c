import {
  CronJobs,
  DaemonSets,
  Events,
  Jobs,
  Nodes,
  Pods,
  StatefulSets,
  type Job,
  type Pod,
} from '@tinkernetes/api';
import { findCondition } from '@tinkernetes/apimachinery';
import { eventually } from '@tinkernetes/component-base/testing';
import { podActor, startTestManager, type TestManager } from './testing/test-manager';

// A busy machine takes its time; a condition that is not met says so itself, and earlier.
let manager: TestManager;
let actor: ReturnType<typeof podActor>;
const namespace = 'default';

beforeAll(async () => {
  manager = await startTestManager();
  actor = podActor(manager.client, namespace);
});
afterAll(() => manager.stop());

const template = (app: string, image = 'nginx:1', extra: object = {}) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'main', image }], ...extra },
});
const names = (pods: readonly Pod[]) => pods.map((p) => p.metadata.name).sort();
const eventsOf = async (reason: string): Promise<string[]> =>
  (await manager.client.for(Events).list({ namespace })).items
    .filter((e) => e.reason === reason)
    .map((e) => e.message ?? '');

describe('StatefulSet', () => {
  const create = (name: string, spec: object = {}) =>
    manager.client.for(StatefulSets).create(
      {
        metadata: { name },
        spec: {
          replicas: 3,
          serviceName: name,
          selector: { matchLabels: { app: name } },
          template: template(name),
          ...spec,
        },
      },
      { namespace },
    );
  const setImage = (name: string, image: string) =>
    manager.client
      .for(StatefulSets)
      .patch(
        name,
        { spec: { template: { spec: { containers: [{ name: 'main', image }] } } } },
        { type: 'strategic', namespace },
      );
  const imagesOf = async (app: string) =>
    Object.fromEntries(
      (await actor.list(`app=${app}`)).map((p) => [p.metadata.name, p.spec.containers[0]?.image]),
    );

  it('makes Pods one after another, each when the one before is ready', async () => {
    await create('db');
    for (const ordinal of [0, 1, 2]) {
      const pods = await eventually(async () => {
        const list = await actor.list('app=db');
        expect(names(list)).toEqual([0, 1, 2].slice(0, ordinal + 1).map((i) => `db-${i}`));
        return list;
      });
      const pod = pods.find((p) => p.metadata.name === `db-${ordinal}`);
      expect(pod?.spec).toMatchObject({ hostname: `db-${ordinal}`, subdomain: 'db' });
      if (pod) await actor.makeReady(pod);
    }
    await eventually(async () => {
      const set = await manager.client.for(StatefulSets).get('db', { namespace });
      expect(set.status).toMatchObject({
        replicas: 3,
        readyReplicas: 3,
        updatedReplicas: 3,
        currentReplicas: 3,
      });
      expect(set.status?.currentRevision).toBe(set.status?.updateRevision);
    });
    await eventually(async () =>
      expect(await eventsOf('SuccessfulCreate')).toContain('create Pod db-0 in StatefulSet db successful'),
    );
  });

  it('C23 stays stuck after a bad rollout is reverted, until the bad Pod is deleted by hand', async () => {
    await setImage('db', 'bad');
    await eventually(async () => {
      await actor.reap('app=db');
      expect(await imagesOf('db')).toEqual({ 'db-0': 'nginx:1', 'db-1': 'nginx:1', 'db-2': 'bad' });
    });
    await setImage('db', 'nginx:1');
    // Time for the controller to see the revert: it says so in the status.
    await eventually(async () => {
      const set = await manager.client.for(StatefulSets).get('db', { namespace });
      expect(set.status?.observedGeneration).toBe(set.metadata.generation);
    });
    expect(await imagesOf('db')).toMatchObject({ 'db-2': 'bad' });
    await manager.client.for(Pods).delete('db-2', { namespace, gracePeriodSeconds: 0 });
    await eventually(async () => expect(await imagesOf('db')).toMatchObject({ 'db-2': 'nginx:1' }));
  });

  it('C23 replaces the bad Pod without help where the policy is Parallel', async () => {
    await create('par', { podManagementPolicy: 'Parallel' });
    const pods = await eventually(async () => {
      const list = await actor.list('app=par');
      expect(list).toHaveLength(3);
      return list;
    });
    await Promise.all(pods.map((pod) => actor.makeReady(pod)));
    await setImage('par', 'bad');
    await eventually(async () => {
      await actor.reap('app=par');
      expect(await imagesOf('par')).toEqual({ 'par-0': 'nginx:1', 'par-1': 'nginx:1', 'par-2': 'bad' });
    });
    await setImage('par', 'nginx:1');
    await eventually(async () => {
      await actor.reap('app=par');
      expect(await imagesOf('par')).toMatchObject({ 'par-2': 'nginx:1' });
    });
  });
});

describe('DaemonSet', () => {
  it('covers every node that fits, also one that comes later, and replaces Pods one node at a time', async () => {
    const { client } = manager;
    await Promise.all(['n1', 'n2'].map((name) => client.for(Nodes).create({ metadata: { name }, spec: {} })));
    await client.for(DaemonSets).create(
      {
        metadata: { name: 'agent' },
        spec: { selector: { matchLabels: { app: 'agent' } }, template: template('agent') },
      },
      { namespace },
    );
    await eventually(async () => expect(await actor.list('app=agent')).toHaveLength(2));
    await client.for(Nodes).create({ metadata: { name: 'n3' }, spec: {} });
    const pods = await eventually(async () => {
      const list = await actor.list('app=agent');
      expect(list).toHaveLength(3);
      return list;
    });
    await Promise.all(pods.map((pod) => actor.makeReady(pod)));
    await eventually(async () => {
      const set = await client.for(DaemonSets).get('agent', { namespace });
      expect(set.status).toMatchObject({
        desiredNumberScheduled: 3,
        numberReady: 3,
        updatedNumberScheduled: 3,
      });
    });
    await client
      .for(DaemonSets)
      .patch(
        'agent',
        { spec: { template: { spec: { containers: [{ name: 'main', image: 'nginx:2' }] } } } },
        { type: 'strategic', namespace },
      );
    await eventually(async () => {
      const going = (await actor.list('app=agent')).filter((p) => p.metadata.deletionTimestamp);
      expect(going.length).toBeLessThanOrEqual(1);
      await actor.reap('app=agent');
      const list = await actor.list('app=agent');
      for (const pod of list) if (!pod.status?.podIP) await actor.makeReady(pod);
      expect(list.map((p) => p.spec.containers[0]?.image)).toEqual(['nginx:2', 'nginx:2', 'nginx:2']);
    });
  });
});

describe('Job', () => {
  const create = (name: string, spec: Partial<Job['spec']>) =>
    manager.client.for(Jobs).create(
      {
        metadata: { name },
        spec: { template: template(name, 'busybox', { restartPolicy: 'Never' }), ...spec },
      },
      { namespace },
    );
  const podsOf = (name: string) => actor.list(`batch.kubernetes.io/job-name=${name}`);
  const live = async (name: string) =>
    (await podsOf(name)).filter((p) => !p.status?.phase || p.status.phase === 'Pending');
  const conditionsOf = async (name: string) => {
    const job = await manager.client.for(Jobs).get(name, { namespace });
    return (job.status?.conditions ?? []).filter((c) => c.status === 'True').map((c) => [c.type, c.reason]);
  };

  it('runs its Pods to completion and lets their finalizers go', async () => {
    await create('pi', { completions: 2, parallelism: 2 });
    const pods = await eventually(async () => {
      const list = await podsOf('pi');
      expect(list).toHaveLength(2);
      return list;
    });
    expect(pods[0]?.metadata.finalizers).toEqual(['batch.kubernetes.io/job-tracking']);
    await Promise.all(pods.map((pod) => actor.finish(pod, 0)));
    await eventually(async () => {
      const job = await manager.client.for(Jobs).get('pi', { namespace });
      expect(job.status).toMatchObject({ succeeded: 2 });
      expect(job.status?.active ?? 0).toBe(0);
      expect(job.status?.completionTime).toBeDefined();
      expect(await conditionsOf('pi')).toEqual([
        ['SuccessCriteriaMet', 'CompletionsReached'],
        ['Complete', 'CompletionsReached'],
      ]);
      expect((await podsOf('pi')).flatMap((p) => p.metadata.finalizers ?? [])).toEqual([]);
    });
  });

  it('C25 (a) fails when more Pods have failed than backoffLimit allows', async () => {
    await create('bad', { parallelism: 3, completions: 3, backoffLimit: 2 });
    const pods = await eventually(async () => {
      const list = await podsOf('bad');
      expect(list).toHaveLength(3);
      return list;
    });
    for (const pod of pods) await actor.finish(pod, 1);
    await eventually(async () => {
      const job = await manager.client.for(Jobs).get('bad', { namespace });
      expect(job.status?.failed).toBeGreaterThanOrEqual(3);
      expect(findCondition(job.status?.conditions, 'Failed')).toMatchObject({
        status: 'True',
        reason: 'BackoffLimitExceeded',
        message: 'Job has reached the specified backoff limit',
      });
    });
    expect((await conditionsOf('bad'))[0]).toEqual(['FailureTarget', 'BackoffLimitExceeded']);
  });

  it('C25 (c) ends at the first Pod that a FailJob rule matches', async () => {
    await create('policy', {
      podFailurePolicy: {
        rules: [
          { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
          { action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } },
        ],
      },
    });
    const [pod] = await eventually(async () => {
      const list = await podsOf('policy');
      expect(list).toHaveLength(1);
      return list;
    });
    if (pod) await actor.finish(pod, 42);
    await eventually(async () => {
      const job = await manager.client.for(Jobs).get('policy', { namespace });
      expect(findCondition(job.status?.conditions, 'Failed')).toMatchObject({
        reason: 'PodFailurePolicy',
        message: `Container main for pod ${namespace}/${pod?.metadata.name} failed with exit code 42 matching FailJob rule at index 1`,
      });
    });
  });

  it('C25 (e) lets one index fail and completes the others', async () => {
    await create('indexed', {
      completions: 3,
      parallelism: 3,
      completionMode: 'Indexed',
      backoffLimitPerIndex: 0,
    });
    await eventually(async () => expect(await live('indexed')).toHaveLength(3));
    const index = (pod: Pod) => pod.metadata.annotations?.['batch.kubernetes.io/job-completion-index'];
    for (const pod of await live('indexed')) await actor.finish(pod, index(pod) === '2' ? 1 : 0);
    await eventually(async () => {
      const job = await manager.client.for(Jobs).get('indexed', { namespace });
      expect(job.status).toMatchObject({
        completedIndexes: '0,1',
        failedIndexes: '2',
        succeeded: 2,
        failed: 1,
      });
      expect(findCondition(job.status?.conditions, 'Failed')?.reason).toBe('FailedIndexes');
    });
  });

  it('stops its Pods when it is suspended and makes them again when it is resumed', async () => {
    await create('pause', {});
    await eventually(async () => expect(await podsOf('pause')).toHaveLength(1));
    const suspend = (value: boolean) =>
      manager.client.for(Jobs).patch('pause', { spec: { suspend: value } }, { type: 'merge', namespace });
    await suspend(true);
    await eventually(async () => {
      await actor.reap('batch.kubernetes.io/job-name=pause');
      expect(await podsOf('pause')).toEqual([]);
      expect(await conditionsOf('pause')).toEqual([['Suspended', 'JobSuspended']]);
    });
    await suspend(false);
    await eventually(async () => expect(await podsOf('pause')).toHaveLength(1));
  });
});

describe('CronJob', () => {
  it('makes a Job for a time that is due and remembers it', async () => {
    await manager.client.for(CronJobs).create(
      {
        metadata: { name: 'tick' },
        spec: {
          schedule: '@every 1s',
          jobTemplate: { spec: { template: template('tick', 'busybox', { restartPolicy: 'Never' }) } },
        },
      },
      { namespace },
    );
    await eventually(async () => {
      const cronJob = await manager.client.for(CronJobs).get('tick', { namespace });
      expect(cronJob.status?.lastScheduleTime).toBeDefined();
      expect(cronJob.status?.active?.[0]?.name).toMatch(/^tick-\d+$/);
    });
  });
});

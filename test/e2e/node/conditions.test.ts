import { useCluster } from '../../harness/cluster-fixture';
import { podOf, shell, waits } from '../../harness/pods';

/** A Pod's phases and conditions, and who ends it before its time. */
const { run, attempt, apply, read, until } = useCluster(['--nodes=1', '--ephemeral']);

interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}
const conditionsOf = async (pod: string): Promise<Record<string, Condition>> => {
  const list = JSON.parse(await read(`pod/${pod}`, '{.status.conditions}')) as Condition[];
  return Object.fromEntries(list.map((condition) => [condition.type, condition]));
};
/** Stays for a while after it was asked to end, so that its conditions can be read. */
const reluctant = waits('sleep 100; exit 0');
const terminationGracePeriodSeconds = 120;
const slow = { terminationGracePeriodSeconds, containers: [shell('main', reluctant)] };

const disruption = (pod: string) =>
  read(`pod/${pod}`, '{.status.conditions[?(@.type=="DisruptionTarget")].reason}');
const status = async (pod: string) => (await run(`get pod ${pod} --no-headers`)).split(/ +/)[2];
const ready = (pod: string) => run(`wait --for=condition=Ready pod/${pod} --timeout=120s`);

it('Pending, Running, Succeeded: each with its conditions', async () => {
  await apply(
    podOf('passes', {
      restartPolicy: 'Never',
      initContainers: [shell('gate', 'until test -e /gate/open; do sleep 0.1; done', mounts())],
      containers: [shell('main', 'until test -e /gate/end; do sleep 0.1; done', mounts())],
      volumes: [{ name: 'gate', emptyDir: {} }],
    }),
  );
  await until(async () =>
    expect(await read('pod/passes', '{.status.initContainerStatuses[0].state.running}')).not.toBe(''),
  );
  expect(await read('pod/passes', '{.status.phase}')).toBe('Pending');
  expect(await conditionsOf('passes')).toMatchObject({
    PodScheduled: { status: 'True' },
    PodReadyToStartContainers: { status: 'True' },
    Initialized: {
      status: 'False',
      reason: 'ContainersNotInitialized',
      message: 'containers with incomplete status: [gate]',
    },
    Ready: {
      status: 'False',
      reason: 'ContainersNotReady',
      message: 'containers with unready status: [main]',
    },
    ContainersReady: { status: 'False' },
  });
  await run(['exec', 'passes', '-c', 'gate', '--', 'touch', '/gate/open']);
  await ready('passes');
  expect(await read('pod/passes', '{.status.phase}')).toBe('Running');
  expect(await read('pod/passes', '{.status.containerStatuses[0].imageID}')).toMatch(
    /^docker\.io\/library\/busybox@sha256:[0-9a-f]{64}$/,
  );
  const all = await conditionsOf('passes');
  expect(Object.values(all).map((c) => c.status)).toEqual(['True', 'True', 'True', 'True', 'True']);
  await run(['exec', 'passes', '--', 'touch', '/gate/end']);
  await run('wait --for=jsonpath={.status.phase}=Succeeded pod/passes --timeout=120s');
  await until(async () =>
    expect(await conditionsOf('passes')).toMatchObject({
      PodReadyToStartContainers: { status: 'False' },
      Initialized: { status: 'True', reason: 'PodCompleted' },
      Ready: { status: 'False', reason: 'PodCompleted' },
    }),
  );
  expect(await status('passes')).toBe('Completed');
});

function mounts() {
  return { volumeMounts: [{ name: 'gate', mountPath: '/gate' }] };
}

it('readiness gates: wait for what others say of the Pod', async () => {
  await apply(
    podOf('gated', {
      readinessGates: [{ conditionType: 'example.com/in-lb' }],
      containers: [shell('main', waits())],
    }),
  );
  await run('wait --for=condition=ContainersReady pod/gated --timeout=120s');
  expect((await conditionsOf('gated')).Ready).toMatchObject({
    status: 'False',
    reason: 'ReadinessGatesNotReady',
    message: 'corresponding condition of pod readiness gate "example.com/in-lb" does not exist.',
  });
  expect(await run('get pod gated -o wide --no-headers')).toMatch(/ 0\/1\n$/);
  const say = (value: string) => {
    const patch = { status: { conditions: [{ type: 'example.com/in-lb', status: value }] } };
    return run(['patch', 'pod', 'gated', '--subresource=status', '-p', JSON.stringify(patch)]);
  };
  await say('True');
  await ready('gated');
  expect(await run('get pod gated -o wide --no-headers')).toMatch(/ 1\/1\n$/);
  await say('False');
  await run('wait --for=condition=Ready=false pod/gated --timeout=120s');
});

it('activeDeadlineSeconds: ends the Pod, which has failed then', async () => {
  await apply(podOf('late', { activeDeadlineSeconds: 1, containers: [shell('main', waits())] }));
  await run('wait --for=jsonpath={.status.phase}=Failed pod/late --timeout=120s');
  expect(await read('pod/late', '{.status.reason}: {.status.message}')).toBe(
    'DeadlineExceeded: Pod was active on the node longer than the specified deadline',
  );
  expect(await run('events --for pod/late')).toMatch(/Normal +DeadlineExceeded +Pod\/late/);
});

it('DisruptionTarget: by the eviction API', async () => {
  await apply(podOf('evicted', slow));
  await ready('evicted');
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'evicted' } };
  const path = '/api/v1/namespaces/default/pods/evicted/eviction';
  await run(['create', '--raw', path, '-f', '-'], JSON.stringify(eviction));
  expect(await disruption('evicted')).toBe('EvictionByEvictionAPI');
  await run('delete pod evicted --grace-period=1');
});

it('DisruptionTarget: by a Pod of higher priority', async () => {
  const cpu = Number(await read('node/node-1', '{.status.allocatable.cpu}'));
  const hog = (name: string, spec: object, command: string) =>
    podOf(name, {
      ...spec,
      containers: [shell('main', command, { resources: { requests: { cpu: `${cpu * 0.6}` } } })],
    });
  await run('create priorityclass urgent --value=1000');
  await apply(hog('modest', { terminationGracePeriodSeconds }, reluctant));
  await ready('modest');
  await apply(hog('urgent', { priorityClassName: 'urgent' }, waits()));
  await until(async () => expect(await disruption('modest')).toBe('PreemptionByScheduler'));
  await until(async () => expect(await read('pod/urgent', '{.status.nominatedNodeName}')).toBe('node-1'));
  await run('delete pod modest --grace-period=1');
  await ready('urgent');
  await run('delete pod urgent');
});

it('DisruptionTarget: by a taint of the node, for all that do not tolerate it', async () => {
  const toleration = { key: 'away', operator: 'Exists' };
  await apply(podOf('moves', slow), podOf('stays', { ...slow, tolerations: [toleration] }));
  await Promise.all(['moves', 'stays'].map(ready));
  await run('taint node node-1 away=now:NoExecute');
  await until(async () => expect(await disruption('moves')).toBe('DeletionByTaintManager'));
  expect(await read('pod/stays', '{.metadata.deletionTimestamp}')).toBe('');
  await run('taint node node-1 away-');
  await run('delete pod moves stays --grace-period=1');
});

it('refused: the Pod says why, and has no containers', async () => {
  const refused = { nodeName: 'node-1', nodeSelector: { disk: 'ssd' }, containers: [shell('main', 'true')] };
  await apply(podOf('refused', refused));
  await until(async () => expect(await status('refused')).toBe('NodeAffinity'));
  const message = "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";
  expect(await read('pod/refused', '{.status.message}')).toBe(`Pod was rejected: ${message}`);
  expect((await attempt('logs refused')).code).not.toBe(0);
});

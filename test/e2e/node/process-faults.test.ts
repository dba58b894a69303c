import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { useCluster } from '../../harness/cluster-fixture';
import { pidOf } from '../../harness/component-status';

/** A node whose kubelet or runtime dies or hangs. */
const fixture = useCluster(['--nodes=1', '--extra-config=kubelet.runtime-request-timeout=3s']);
const { run, apply, read, until } = fixture;
const kubeletRoot = () => join(fixture.cluster.dataDir, 'nodes/node-1/kubelet');
const sleeper = { image: 'busybox', command: ['sh', '-c', 'echo started; sleep 3600'] };
const pod = (name: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    nodeName: 'node-1',
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'one', ...sleeper }],
    ...spec,
  },
});
const ready = (name: string) => run(`wait --for=condition=Ready pod/${name} --timeout=120s`);
const each = (field: string) => read('pod/kept', `{.status.containerStatuses[*].${field}}`);

/** Ends the process and waits for the next one. */
async function kill(instance: string): Promise<void> {
  const before = pidOf(fixture.cluster, instance);
  process.kill(before, 'SIGKILL');
  await until(async () => expect(pidOf(fixture.cluster, instance)).not.toBe(before));
}

beforeAll(async () => {
  const volumeMounts = [
    { name: 'settings', mountPath: '/settings' },
    { name: 'scratch', mountPath: '/scratch' },
  ];
  await run('create configmap settings --from-literal=key=value');
  await apply(
    pod('kept', {
      containers: [
        { name: 'one', ...sleeper, volumeMounts },
        { name: 'two', ...sleeper },
      ],
      volumes: [
        { name: 'settings', configMap: { name: 'settings' } },
        { name: 'scratch', emptyDir: {} },
      ],
    }),
  );
  await ready('kept');
});

it('has what belongs to a Pod where upstream has it', async () => {
  const uid = await read('pod/kept', '{.metadata.uid}');
  const directory = join(kubeletRoot(), 'pods', uid);
  for (const path of [
    'volumes/kubernetes.io~configmap/settings/key',
    'volumes/kubernetes.io~empty-dir/scratch',
    'plugins',
    'containers/one',
    'containers/two',
    'etc-hosts',
  ])
    expect([path, existsSync(join(directory, path))]).toEqual([path, true]);
  const logs = join(kubeletRoot(), 'log/pods', `default_kept_${uid}`);
  expect(readdirSync(logs).sort()).toEqual(['one', 'two']);
  expect(readdirSync(join(logs, 'one'))).toEqual(['0.log']);
});

it('a kubelet that is killed, its checkpoint damaged: goes on with the containers that run', async () => {
  const before = await each('containerID');
  writeFileSync(join(kubeletRoot(), 'allocated_pods_state'), '{"data":');
  await kill('kubelet-node-1');
  await apply(pod('new'));
  await ready('new');
  await until(async () => expect(await run('logs kept -c one')).toBe('started\n'));
  expect(await run('exec kept -c two -- cat /proc/1/comm')).toBe('sh\n');
  expect(await each('containerID')).toBe(before);
  expect(await each('restartCount')).toBe('0 0');
});

it('a runtime that does not answer: calls are given up, and made again', async () => {
  const runtime = pidOf(fixture.cluster, 'mock-runtime-node-1');
  process.kill(runtime, 'SIGSTOP');
  try {
    await apply(pod('stuck'));
    await until(async () => {
      const failures = 'events --field-selector involvedObject.name=stuck,type=Warning';
      expect(await read(failures, '{.items[*].message}')).toContain('context deadline exceeded');
    });
    expect(await read('pod/stuck', '{.status.phase}')).toBe('Pending');
  } finally {
    process.kill(runtime, 'SIGCONT');
  }
  await ready('stuck');
});

it('a runtime that is killed: the node says so, recovers, and starts again what has ended with it', async () => {
  const before = await each('containerID');
  const readiness = async () => {
    const { items } = JSON.parse(await run('get nodes -o json')) as NodeList;
    return items[0]?.status.conditions.find(({ type }) => type === 'Ready');
  };
  const runtime = pidOf(fixture.cluster, 'mock-runtime-node-1');
  // Who would start it again at once has to wait until the node has noticed.
  const supervisor = fixture.cluster.pid;
  process.kill(supervisor, 'SIGSTOP');
  try {
    process.kill(runtime, 'SIGKILL');
    await until(async () =>
      expect(await readiness()).toMatchObject({
        status: 'False',
        reason: 'KubeletNotReady',
        message: expect.stringContaining('container runtime is down:'),
      }),
    );
  } finally {
    process.kill(supervisor, 'SIGCONT');
  }
  await until(async () => expect(await readiness()).toMatchObject({ status: 'True' }));
  await until(async () => {
    expect(await each('restartCount')).toBe('1 1');
    expect(await each('ready')).toBe('true true');
  });
  expect(await each('lastState.terminated.containerID')).toBe(before);
  expect(await run('logs kept -c one --previous')).toBe('started\n');
});

interface NodeList {
  items: { status: { conditions: { type: string; status: string }[] } }[];
}

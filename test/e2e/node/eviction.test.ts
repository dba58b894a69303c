import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { useCluster } from '../../harness/cluster-fixture';
import { transcript } from '../../harness/clients';

/** What happens to Pods of a node that runs out of something, or that use more of its disk than they may. */
const fixture = useCluster(['--nodes=1', '--without=kubelet']);
const { run, apply, read, until } = fixture;

let kubelet: ChildProcess | undefined;
/** The node's agent, again with other limits; containers run on meanwhile. */
async function startKubelet(...flags: readonly string[]): Promise<void> {
  const runner = join(__dirname, '../../../dist/run.cjs');
  const extra = ['node-status-update-frequency=1s', ...flags].map((flag) => `--extra-config=kubelet.${flag}`);
  const args = [
    'tinkernetes',
    'run',
    'kubelet',
    `--data-dir=${fixture.cluster.dataDir}`,
    '--nodes=1',
    ...extra,
  ];
  kubelet = spawn(process.execPath, [runner, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  await transcript(kubelet).until('serves after', 150_000);
}
async function stopKubelet(): Promise<void> {
  const ended = kubelet;
  kubelet = undefined;
  if (!ended || ended.exitCode !== null || ended.signalCode !== null) return;
  const exited = new Promise((resolve) => ended.once('exit', resolve));
  ended.kill('SIGTERM');
  await exited;
}
afterAll(stopKubelet);

const pod = (name: string, { spec = {}, resources = {}, command = 'sleep 3600', memory = '1Mi' } = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, annotations: { 'mock.tinkernetes.dev/memory': memory } },
  spec: {
    terminationGracePeriodSeconds: 1,
    restartPolicy: 'Never',
    containers: [{ name: 'main', image: 'busybox:1.36', command: ['sh', '-c', command], resources }],
    ...spec,
  },
});
const ready = (name: string) => run(`wait --for=condition=Ready pod/${name} --timeout=120s`);
const evicted = (name: string, message: unknown) =>
  until(async () =>
    expect(JSON.parse(await read(`pod/${name}`, '{.status}'))).toMatchObject({
      phase: 'Failed',
      reason: 'Evicted',
      message,
    }),
  );
/** Names of evicted Pods, the first that was evicted first. */
async function evictedInOrder(): Promise<string[]> {
  const all = '{range .items[*]}{.metadata.resourceVersion} {.involvedObject.name}{"\\n"}{end}';
  const events = await read('events --field-selector=reason=Evicted', all);
  return events
    .split('\n')
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .map((line) => line.split(' ')[1] ?? '');
}
const condition = (type: string) => read('node/node-1', `{.status.conditions[?(@.type=="${type}")].status}`);

it('evicts a Pod that writes more than it may, and no other', async () => {
  await startKubelet();
  await run('wait --for=condition=Ready node/node-1 --timeout=120s');
  const write = (path: string) => `dd if=/dev/zero of=${path} bs=1048576 count=4; sleep 3600`;
  const disk = (limit: string) => ({ limits: { 'ephemeral-storage': limit } });
  const small = pod('small-volume', { command: write('/v/file') });
  const [container] = small.spec.containers;
  const volumeMounts = [{ name: 'v', mountPath: '/v' }];
  const two = pod('small-container', { command: write('/file'), resources: disk('1Mi') });
  const other = { name: 'other', image: 'busybox:1.36', command: ['sleep', '3600'], resources: disk('64Mi') };
  await apply(
    {
      ...small,
      spec: {
        ...small.spec,
        containers: [{ ...container, volumeMounts }],
        volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Mi' } }],
      },
    },
    pod('small-pod', { command: write('/file'), resources: disk('1Mi') }),
    { ...two, spec: { ...two.spec, containers: [...two.spec.containers, other] } },
    pod('enough', { command: write('/file'), resources: disk('64Mi') }),
  );
  await evicted('small-volume', 'Usage of EmptyDir volume "v" exceeds the limit "1Mi". ');
  await evicted('small-pod', 'Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. ');
  await evicted('small-container', 'Container main exceeded its local ephemeral storage limit "1Mi". ');
  expect(await read('pod/enough', '{.status.phase}')).toBe('Running');
  expect(await run('get events --field-selector=reason=Evicted')).toMatch(
    /Warning +Evicted +pod\/small-volume +Usage of/,
  );
  await run('delete pod enough --now');
});

it('evicts when memory runs out: beyond requests first, by priority, the largest first; never critical Pods', async () => {
  await run('create priorityclass important --value=1000');
  const criticalPod = pod('critical', {
    memory: '96Mi',
    spec: { priorityClassName: 'system-node-critical' },
  });
  await apply(
    pod('within', { memory: '8Mi', resources: { requests: { memory: '16Mi' } } }),
    pod('beyond', { memory: '64Mi' }),
    pod('beyond-less', { memory: '16Mi' }),
    pod('important', { memory: '80Mi', spec: { priorityClassName: 'important' } }),
    criticalPod,
  );
  const victims = ['beyond', 'beyond-less', 'important', 'within'];
  for (const name of [...victims, 'critical']) await ready(name);
  await stopKubelet();
  await startKubelet('eviction-hard=memory.available<99%');
  await until(async () => expect(await condition('MemoryPressure')).toBe('True'));
  for (const name of victims)
    await evicted(
      name,
      expect.stringMatching(
        /^The node was low on resource: memory\. Threshold quantity: \S+, available: \S+\. /,
      ),
    );
  expect(await read('pod/beyond', '{.status.message}')).toContain(
    'Container main was using 64Mi, request is 0, has larger consumption of memory.',
  );
  const disrupted = '{.status.conditions[?(@.type=="DisruptionTarget")].reason}';
  expect(await read('pod/beyond', disrupted)).toBe('TerminationByKubelet');
  const order = await evictedInOrder();
  expect(order.filter((name) => victims.includes(name))).toEqual(victims);
  expect(await read('pod/critical', '{.status.phase}')).toBe('Running');
});

it('keeps further Pods away from a node under pressure', async () => {
  await until(async () =>
    expect(await read('node/node-1', '{.spec.taints[*].key}')).toContain(
      'node.kubernetes.io/memory-pressure',
    ),
  );
  await apply(pod('late', { spec: { nodeName: 'node-1' } }), pod('unscheduled'));
  await evicted('late', 'Pod was rejected: The node had condition: [MemoryPressure]. ');
  await until(async () =>
    expect(await run('get events --field-selector=involvedObject.name=unscheduled')).toContain(
      'untolerated taint',
    ),
  );
  expect(await run('get events --field-selector=involvedObject.name=node-1')).toMatch(
    /Warning +EvictionThresholdMet +node\/node-1 +Attempting to reclaim memory/,
  );
});

it.each([
  ['nodefs.available<99%', 'DiskPressure', 'ephemeral-storage', 'dd if=/dev/zero of=/f bs=1048576 count=8'],
  ['pid.available<100%', 'PIDPressure', 'pids', 'sleep 3600 & sleep 3600 & sleep 3600 &'],
])('evicts by %s: who uses most first', async (threshold, type, resource, greed) => {
  await stopKubelet();
  await startKubelet();
  for (const kind of ['MemoryPressure', type])
    await until(async () => expect(await condition(kind)).toBe('False'));
  const [much, little] = [`much-of-${resource}`, `little-of-${resource}`];
  const spec = { nodeName: 'node-1' };
  await apply(pod(little, { spec }), pod(much, { spec, command: `${greed}; sleep 3600`.replace('&;', '&') }));
  await ready(little);
  await ready(much);
  await stopKubelet();
  await startKubelet(`eviction-hard=${threshold}`);
  const low = expect.stringMatching(
    new RegExp(`^The node was low on resource: ${resource}\\. Threshold quantity: \\S+, available: \\S+\\. `),
  );
  for (const name of [much, little]) await evicted(name, low);
  expect((await evictedInOrder()).filter((name) => name.endsWith(resource))).toEqual([much, little]);
  expect(await condition(type)).toBe('True');
  const taint = `node.kubernetes.io/${type.replace('Pressure', '').toLowerCase()}-pressure`;
  await until(async () => expect(await read('node/node-1', '{.spec.taints[*].key}')).toContain(taint));
});

it('deletes images that nobody uses where the disk is fuller than it should be', async () => {
  const images = () => read('node/node-1', '{.status.images[*].names[*]}');
  await stopKubelet();
  await startKubelet();
  await run('wait --for=condition=Ready node/node-1 --timeout=120s');
  await until(async () => expect(await condition('MemoryPressure')).toBe('False'));
  await run('run passing --image=nginx:1.27 --restart=Never');
  await ready('passing');
  await run('delete pod passing --now');
  await until(async () => expect(await images()).toContain('nginx:1.27'));
  await stopKubelet();
  await startKubelet(
    'image-gc-high-threshold=1',
    'image-gc-low-threshold=0',
    'minimum-image-ttl-duration=0s',
  );
  await until(async () => expect(await images()).not.toContain('nginx:1.27'));
  expect(await images()).toContain('busybox:1.36');
});

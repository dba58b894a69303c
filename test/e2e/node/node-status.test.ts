import { useCluster } from '../../harness/cluster-fixture';

/** What a node says of itself, and which Pods it takes. */
const { run, apply, read, until } = useCluster([
  '--nodes=2',
  '--ephemeral',
  '--extra-config=kubelet-node-1.system-reserved=cpu=200m,memory=100Mi',
  '--extra-config=kubelet-node-1.kube-reserved=cpu=100m,ephemeral-storage=1Gi',
  '--extra-config=kubelet-node-1.node-labels=disk=ssd,zone=a',
  '--extra-config=kubelet-node-2.register-with-taints=dedicated=batch:NoSchedule,shut=down:NoExecute',
  '--extra-config=kubelet-node-2.max-pods=2',
]);

const pod = (name: string, spec: object, { annotations = {}, resources = {} } = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, annotations },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'main', image: 'busybox', command: ['sleep', '3600'], resources }],
    ...spec,
  },
});
const ready = (name: string) => run(`wait --for=condition=Ready pod/${name} --timeout=120s`);
const bytes = (text: string): number =>
  Number.parseInt(text, 10) * ({ Ki: 1024, Mi: 1024 ** 2, Gi: 1024 ** 3 }[text.slice(-2)] ?? 1);
const tolerations = [{ operator: 'Exists' }];

it('has what the machine has, less what is reserved and what eviction keeps free', async () => {
  const of = async (path: string) =>
    JSON.parse(await read('node/node-1', `{.status.${path}}`)) as Record<string, string>;
  const [capacity, allocatable] = [await of('capacity'), await of('allocatable')];
  expect(allocatable.cpu).toBe(`${Number(capacity.cpu) * 1000 - 300}m`);
  // 100Mi are reserved, as much is eviction's.
  expect(bytes(capacity.memory ?? '') - bytes(allocatable.memory ?? '')).toBe(200 * 1024 ** 2);
  expect(bytes(capacity['ephemeral-storage'] ?? '') - bytes(allocatable['ephemeral-storage'] ?? '')).toBe(
    1024 ** 3,
  );
  expect(await read('nodes', '{.items[*].status.allocatable.pods}')).toBe('110 2');
});

it('has conditions, addresses, labels and taints, and renews its Lease', async () => {
  const conditions = '{range .status.conditions[*]}{.type}={.status}:{.reason} {end}';
  expect(await read('node/node-1', conditions)).toBe(
    'MemoryPressure=False:KubeletHasSufficientMemory DiskPressure=False:KubeletHasNoDiskPressure ' +
      'PIDPressure=False:KubeletHasSufficientPID Ready=True:KubeletReady',
  );
  expect(await read('node/node-1', '{.status.addresses[?(@.type=="InternalIP")].address}')).toBe(
    '172.30.0.11',
  );
  expect(await run('get nodes -l disk=ssd,zone=a -o name')).toBe('node/node-1\n');
  const taints = '{range .spec.taints[*]}{.key}={.value}:{.effect} {end}';
  expect(await read('node/node-2', taints)).toBe('dedicated=batch:NoSchedule shut=down:NoExecute');
  const lease = '-n kube-node-lease lease/node-1';
  expect(await read(lease, '{.spec.holderIdentity} {.spec.leaseDurationSeconds}')).toBe('node-1 40');
  const renewed = await read(lease, '{.spec.renewTime}');
  await until(async () => expect(await read(lease, '{.spec.renewTime}')).not.toBe(renewed));
  expect(await read(lease, '{.metadata.ownerReferences[0].kind}')).toBe('Node');
});

it('is described with what its Pods have asked for', async () => {
  const resources = { requests: { cpu: '500m', memory: '64Mi' }, limits: { cpu: '1', memory: '128Mi' } };
  await apply(pod('asks', { nodeName: 'node-1' }, { resources }));
  await ready('asks');
  const cpus = Number(await read('node/node-1', '{.status.capacity.cpu}')) * 1000 - 300;
  const percent = (amount: number) => Math.trunc((amount / cpus) * 100);
  const text = await run('describe node node-1');
  expect(text).toMatch(
    new RegExp(
      `default +asks +500m \\(${percent(500)}%\\) +1 \\(${percent(1000)}%\\) +64Mi \\(\\d+%\\) +128Mi`,
    ),
  );
  expect(text).toMatch(/\nAllocated resources:\n[^]*\n {2}cpu +500m \(/);
  expect(text).toMatch(/\nLease:\n {2}HolderIdentity: {2}node-1\n/);
  for (const reason of ['Starting', 'NodeHasSufficientMemory', 'RegisteredNode'])
    expect(text).toMatch(new RegExp(`\\n {2}Normal +${reason} `));
});

it('refuses what it has no room for, or what does not want to be there', async () => {
  const here = { nodeName: 'node-1' };
  const there = { nodeName: 'node-2', tolerations };
  await apply(pod('fits', there), pod('fits-too', there));
  await ready('fits');
  await ready('fits-too');
  const cpus = Number(await read('node/node-1', '{.status.capacity.cpu}')) * 1000 - 300;
  await apply(
    pod('one-more', there),
    pod('large', here, { resources: { requests: { cpu: '100' } } }),
    pod('elsewhere', { ...here, nodeSelector: { disk: 'hdd' } }),
    pod('intolerant', { nodeName: 'node-2' }),
  );
  const refused = async (name: string, reason: string, message: string) =>
    until(async () =>
      expect(JSON.parse(await read(`pod/${name}`, '{.status}'))).toMatchObject({
        phase: 'Failed',
        reason,
        message: `Pod was rejected: ${message}`,
      }),
    );
  await refused(
    'one-more',
    'OutOfpods',
    "Node didn't have enough resource: pods, requested: 1, used: 2, capacity: 2",
  );
  await refused(
    'large',
    'OutOfcpu',
    `Node didn't have enough resource: cpu, requested: 100000, used: 500, capacity: ${cpus}`,
  );
  await refused(
    'elsewhere',
    'NodeAffinity',
    "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
  );
  // Whoever has it deletes the Pod soon after.
  await until(async () =>
    expect(await run('get events --field-selector=involvedObject.name=intolerant')).toMatch(
      /Warning +TaintToleration +pod\/intolerant +Predicate TaintToleration failed: node\(s\) had taint/,
    ),
  );
  await until(async () =>
    expect(await run('get events --field-selector=involvedObject.name=one-more')).toMatch(
      /Warning +OutOfpods +pod\/one-more/,
    ),
  );
});

it('gives out what somebody says that it has', async () => {
  const write = (dongles: string | null) =>
    run([
      ...['patch', 'node', 'node-1', '--subresource=status', '--type=merge', '-p'],
      JSON.stringify({ status: { capacity: { 'example.com/dongle': dongles } } }),
    ]);
  const allocatable = String.raw`{.status.allocatable.example\.com/dongle}`;
  await write('4');
  await until(async () => expect(await read('node/node-1', allocatable)).toBe('4'));
  const resources = { limits: { 'example.com/dongle': '3' } };
  await apply(pod('three', {}, { resources }), pod('three-more', {}, { resources }));
  await until(async () => {
    const running = await read('pods three three-more', '{.items[*].status.phase}');
    expect(running.split(' ').sort()).toEqual(['Pending', 'Running']);
  });
  await write(null);
  await until(async () => expect(await read('node/node-1', allocatable)).toBe(''));
});

it('tells kubectl top what its Pods use', async () => {
  const use = { 'mock.tinkernetes.dev/cpu': '250m', 'mock.tinkernetes.dev/memory': '64Mi' };
  await apply(pod('busy', { nodeName: 'node-1' }, { annotations: use }));
  await ready('busy');
  await until(async () =>
    expect(await run('top pod busy --containers --no-headers')).toMatch(/^busy +main +250m +64Mi *\n$/),
  );
  expect(await run('top pod busy --no-headers')).toMatch(/^busy +250m +64Mi *\n$/);
  expect(await run('top node node-1')).toMatch(
    /^NAME +CPU\(cores\) +CPU\(%\) +MEMORY\(bytes\) +MEMORY\(%\) *\nnode-1 +\d+m +\d+% +\d+Mi +\d+% *\n$/,
  );
});

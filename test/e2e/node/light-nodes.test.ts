import { useCluster } from '../../harness/cluster-fixture';

/** Many nodes in one kubelet, over one runtime. */
const names = ['node-1-0', 'node-1-1', 'node-1-2', 'node-1-3'];
const { run, attempt, read, until } = useCluster([
  '--nodes=1',
  '--ephemeral',
  `--extra-config=kubelet.nodes=${names.length}`,
]);

const nodesOf = async (): Promise<string[]> =>
  (await read('pods -l app=web', '{.items[*].spec.nodeName}')).split(' ').filter(Boolean);

beforeAll(async () => {
  await until(async () =>
    expect((await read('nodes', '{.items[*].metadata.name}')).split(' ').sort()).toEqual(names),
  );
  await run('wait --for=condition=Ready nodes --all --timeout=120s');
  await run('create deployment web --image=nginx --replicas=8');
  await run('rollout status deploy/web --timeout=140s');
});

it('are Nodes, each with a Lease, a port and Pods of its own', async () => {
  const port = '{.items[*].status.daemonEndpoints.kubeletEndpoint.Port}';
  expect(new Set((await read('nodes', port)).split(' ')).size).toBe(names.length);
  const leases = await read('leases -n kube-node-lease', '{.items[*].metadata.name}');
  expect(leases.split(' ').sort()).toEqual(names);
  expect([...new Set(await nodesOf())].sort()).toEqual(names);
});

it('give logs, run commands, and answer for their own Pods only', async () => {
  const [pod = '', node = ''] = (
    await read('pods -l app=web', '{.items[0].metadata.name} {.items[0].spec.nodeName}')
  ).split(' ');
  expect(await run(`exec ${pod} -- hostname`)).toBe(`${pod}\n`);
  expect(await run(`logs ${pod}`)).toContain('ready for start up');
  const { items } = JSON.parse(await run(`get --raw /api/v1/nodes/${node}/proxy/pods`)) as {
    items: { metadata: { name: string }; spec: { nodeName: string } }[];
  };
  expect(items.map(({ metadata }) => metadata.name)).toContain(pod);
  expect(new Set(items.map(({ spec }) => spec.nodeName))).toEqual(new Set([node]));
});

it('reach each other’s Pods by a Service', async () => {
  await run('expose deploy web --port=80');
  const script = 'until wget -qO- http://web; do sleep 0.2; done';
  const answer = await run([
    'run',
    'asks',
    '--image=busybox',
    '--restart=Never',
    '-i',
    '--rm',
    '--',
    'sh',
    '-c',
    script,
  ]);
  expect(answer).toContain('Welcome to nginx!');
});

it('are drained one by one', async () => {
  await run('drain node-1-2 --ignore-daemonsets --delete-emptydir-data --timeout=120s');
  await run('rollout status deploy/web --timeout=140s');
  await until(async () => expect(await nodesOf()).not.toContain('node-1-2'));
  await run('uncordon node-1-2');
  expect((await attempt('get node node-1-2')).stdout).toContain(' Ready ');
});

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { eventually, freePort } from '@tinkernetes/component-base/testing';
import { CommandLineClient } from '../harness/clients';

const root = join(__dirname, '../..');
const [command = 'docker', ...prefix] = (process.env.TINKERNETES_COMPOSE ?? 'docker compose').split(' ');
const project = `tinkernetes-test-${process.pid}`;
let env: NodeJS.ProcessEnv;
/** A limit for what hangs: containers start slowly where there is other work. */
const timeoutMs = 180_000;

const compose = (...args: string[]) =>
  execFileSync(command, [...prefix, '-p', project, ...args], {
    cwd: root,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

let kubectl: CommandLineClient;
const nodeNames = async () => (await kubectl.run(['get', 'nodes', '-o', 'name'])).trim().split('\n').sort();

beforeAll(async () => {
  // Debian's docker-compose speaks to the classic builder only.
  env = {
    ...process.env,
    API_PORT: String(await freePort()),
    DOCKER_BUILDKIT: '0',
    COMPOSE_DOCKER_CLI_BUILD: '0',
  };
  compose('build');
  compose('up', '-d', '--scale', 'kubelet=3');
  kubectl = new CommandLineClient('kubectl', '35', join(root, 'deploy/cluster/kubeconfig'));
  await eventually(() => kubectl.run(['wait', '--for=condition=Ready', 'node', '--all', '--timeout=5s']), {
    timeoutMs,
  });
  await eventually(async () => expect(await nodeNames()).toHaveLength(3), { timeoutMs });
}, 900_000);
// The engine lets go of a network some moments after its last container.
afterAll(
  () => eventually(() => compose('down', '-v', '--remove-orphans'), { timeoutMs, intervalMs: 1000 }),
  2 * timeoutMs,
);

it('brings all nodes up by themselves, and more when scaled', async () => {
  expect(await nodeNames()).toEqual(['node/kubelet-1', 'node/kubelet-2', 'node/kubelet-3']);
  compose('up', '-d', '--scale', 'kubelet=5', '--no-recreate');
  await eventually(async () => expect(await nodeNames()).toHaveLength(5), { timeoutMs });
  await kubectl.run(['wait', '--for=condition=Ready', 'node', '--all', '--timeout=120s']);
});

it('shows the control plane’s containers as healthy', async () => {
  await eventually(async () => {
    const statuses = await kubectl.run(['get', 'componentstatuses', '--no-headers']);
    const lines = statuses
      .trim()
      .split('\n')
      .map((line) => line.split(/ +/).slice(0, 2));
    expect(lines.sort()).toEqual([
      ['controller-manager', 'Healthy'],
      ['etcd-0', 'Healthy'],
      ['scheduler', 'Healthy'],
    ]);
  });
});

it('runs a Deployment across containers and reaches it by its Service name', async () => {
  await kubectl.run(['create', 'deployment', 'web', '--image=nginx', '--replicas=6']);
  await kubectl.run(['rollout', 'status', 'deploy/web', '--timeout=120s']);
  await kubectl.run(['expose', 'deploy', 'web', '--port', '80']);
  const output = await kubectl.run([
    'run',
    'sh',
    '--image=busybox',
    '--restart=Never',
    '-i',
    '--rm',
    '--',
    'sh',
    '-c',
    // The node and the DNS server hear of a new Service a moment later.
    'until wget -qO- http://web; do sleep 0.2; done',
  ]);
  expect(output).toContain('Welcome to nginx!');
  const [pod] = (await kubectl.run(['get', 'pods', '-l', 'app=web', '-o', 'name'])).split('\n');
  expect(await kubectl.run(['exec', pod ?? '', '--', 'echo', 'over two hops'])).toBe('over two hops\n');
});

it('leaves new Pods Pending without its scheduler, and goes on with it', async () => {
  compose('stop', 'scheduler');
  await kubectl.run(['run', 'waits', '--image=nginx']);
  await kubectl.run(['scale', 'deploy/web', '--replicas=3']);
  await eventually(async () =>
    expect(
      (await kubectl.run(['get', 'pods', '-l', 'app=web', '-o', 'name'])).trim().split('\n'),
    ).toHaveLength(3),
  );
  expect(await kubectl.run(['get', 'pod', 'waits', '-o', 'jsonpath={.status.phase}'])).toBe('Pending');
  compose('start', 'scheduler');
  await kubectl.run(['wait', '--for=condition=Ready', 'pod/waits', '--timeout=120s']);
  const explain = ['node', 'dist/run.cjs', 'tinkernetes', 'explain', 'pod/waits'];
  expect(compose('exec', '-T', 'scheduler', ...explain)).toMatch(/^default\/waits: placed on kubelet-\d/);
});

it('keeps a node its name when its container is restarted', async () => {
  const before = await nodeNames();
  compose('restart', 'kubelet');
  await kubectl.run(['wait', '--for=condition=Ready', 'node', '--all', '--timeout=120s']);
  expect(await nodeNames()).toEqual(before);
});

import { eventually } from '@tinkernetes/component-base/testing';
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandLineClient } from '../harness/clients';
import { ClusterProcess } from '../harness/cluster-process';
import { statusOf } from '../harness/component-status';

const root = `${__dirname}/../..`;

describe('a component that dies', () => {
  let cluster: ClusterProcess;
  let kubectl: CommandLineClient;

  beforeAll(async () => {
    cluster = await ClusterProcess.start();
    kubectl = new CommandLineClient('kubectl', '35', cluster.kubeconfig);
    await kubectl.run(['create', 'deployment', 'web', '--image=nginx', '--replicas=6']);
    await kubectl.run(['rollout', 'status', 'deploy/web', '--timeout=120s']);
  });
  afterAll(() => cluster?.stopAndRemove());

  it.each([
    'apiserver',
    'controller-manager',
    'scheduler',
    'cluster-dns',
    'mock-runtime-node-1',
    'kubelet-node-2',
    'kube-proxy-node-3',
  ])('is started again and a rollout goes on: %s', async (instance) => {
    const before = statusOf(cluster).find((c) => c.instance === instance);
    await kubectl.run(['set', 'env', 'deploy/web', `KILLED=${instance}`]);
    process.kill(Number(before?.pid), 'SIGKILL');
    await eventually(
      () => {
        const now = statusOf(cluster).find((c) => c.instance === instance);
        expect(now?.state).toBe('running');
        expect(now?.pid).not.toBe(before?.pid);
      },
      { intervalMs: 200 },
    );
    await eventually(() => expect(cluster.stderr).toContain(`${instance} was killed by SIGKILL; restarting`));
    await eventually(() => kubectl.run(['rollout', 'status', 'deploy/web', '--timeout=5s']), {
      timeoutMs: 180_000,
    });
    const fresh = await kubectl.json<{
      items: Array<{ spec: { containers: Array<{ env?: Array<{ value?: string }> }> } }>;
    }>(['get', 'pods', '-l', 'app=web', '--field-selector=status.phase=Running']);
    expect(
      fresh.items.filter((p) => p.spec.containers[0]?.env?.[0]?.value === instance).length,
    ).toBeGreaterThanOrEqual(6);
  });
});

describe('a cluster that is started again', () => {
  it('has all its objects after kill -9 of everything', async () => {
    const first = await ClusterProcess.start();
    const kubectl = new CommandLineClient('kubectl', '35', first.kubeconfig);
    await kubectl.run(['create', 'deployment', 'web', '--image=nginx', '--replicas=3']);
    await kubectl.run(['rollout', 'status', 'deploy/web', '--timeout=120s']);
    await kubectl.run(['create', 'configmap', 'kept', '--from-literal=a=b']);
    const pids = statusOf(first).map((c) => Number(c.pid));
    for (const pid of [first.pid, ...pids]) killHard(pid);
    const second = await ClusterProcess.start([], first.dataDir);
    try {
      const again = new CommandLineClient('kubectl', '35', second.kubeconfig);
      expect(await again.run(['get', 'configmap', 'kept', '-o', 'jsonpath={.data.a}'])).toBe('b');
      await again.run(['rollout', 'status', 'deploy/web', '--timeout=120s']);
      expect(await again.run(['get', 'nodes', '--no-headers'])).toMatch(/node-1 .*\nnode-2 .*\nnode-3 /);
    } finally {
      await second.stopAndRemove();
    }
  });

  it('leaves no process and no socket behind when it is stopped', async () => {
    const cluster = await ClusterProcess.start(['--nodes=1']);
    const pids = statusOf(cluster).map((c) => Number(c.pid));
    expect(pids.length).toBeGreaterThanOrEqual(7);
    expect(await cluster.stop('SIGINT')).toBe(0);
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    await cluster.stopAndRemove();
  });
});

it.each([
  ['at once', 0],
  ['while the components start', 400],
  ['when the first nodes join', 1200],
])('leaves no process and no socket behind when Ctrl-C comes %s', async (_, afterMs) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'tk-early-'));
  const args = ['tinkernetes', 'up', '--api-port=0', `--data-dir=${dataDir}`];
  const child = spawn(process.execPath, [`${root}/dist/run.cjs`, ...args], { stdio: 'ignore' });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  // The moment is part of the case: whatever is reached by then has to be undone.
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  child.kill('SIGINT');
  await exited;
  await eventually(() => expect(processesWith(dataDir)).toEqual([]));
  expect(socketsIn(dataDir)).toEqual([]);
  // What the broken-off start left is no obstacle to the next.
  const cluster = await ClusterProcess.start(['--nodes=1'], dataDir);
  await cluster.stopAndRemove();
  expect(processesWith(dataDir)).toEqual([]);
});

/** Also what ends by itself, as its parent has gone. */
function killHard(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Command lines of the running processes that name the directory. */
function processesWith(directory: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => commandLineOf(pid))
    .filter((line) => line.includes(directory));
}

function commandLineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    // It ended meanwhile.
    return '';
  }
}

const socketsIn = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isSocket())
    .map((entry) => entry.name);

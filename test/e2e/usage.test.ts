import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClusterProcess } from '../harness/cluster-process';

const root = join(__dirname, '../..');
const up = (...args: string[]) =>
  spawnSync(process.execPath, [join(root, 'dist/run.cjs'), 'tinkernetes', 'up', ...args], {
    encoding: 'utf8',
    timeout: 150_000,
  });
const newDir = () => mkdtempSync(join(tmpdir(), 'tk-usage-'));

it.each([
  ['an unknown flag', ['--nodez=3'], /unknown flag: --nodez\. Did you mean --nodes\?/],
  ['a wrong number', ['--nodes=many'], /invalid value "many" for --nodes: must be a whole number/],
  ['an unknown component', ['--without=etcd'], /--without etcd: no such component\. Components: /],
  ['a contradiction', ['--ephemeral', '--storage=sqlite'], /--ephemeral keeps nothing/],
  [
    'an unknown storage',
    ['--storage=tape'],
    /invalid value "tape" for --storage: must be sqlite, sqlite:FILE, memory, redis:\/\/HOST:PORT or etcd:ENDPOINTS/,
  ],
  [
    'a flag for a component that there is not',
    ['--extra-config=kublet.v=4'],
    /--extra-config kublet\.v=4: no component kublet/,
  ],
])('refuses %s in one line with exit code 2', (_, args, message) => {
  const result = up(`--data-dir=${newDir()}`, ...args);
  expect(result.stderr).toMatch(message);
  expect(result.stderr.trim().split('\n')).toHaveLength(1);
  expect(result.status).toBe(2);
});

it('says which flag a component does not take', () => {
  const args = ['--nodes=1', '--api-port=0', '--extra-config=kubelet.max-podz=5'];
  const result = up(`--data-dir=${newDir()}`, ...args);
  expect(result.stderr.trim().split('\n').at(-1)).toBe(
    'tinkernetes: kubelet-node-1 exited with code 2: unknown flag: --max-podz. Did you mean --max-pods?',
  );
  expect(result.status).toBe(2);
});

it('ends an API server that is asked for an admission plugin it has not, with one line and exit code 2', () => {
  const result = spawnSync(
    process.execPath,
    [
      join(root, 'dist/run.cjs'),
      'apiserver',
      '--storage=memory',
      '--secure-port=0',
      '--enable-admission-plugins=EventRateLimit',
    ],
    { encoding: 'utf8', timeout: 150_000 },
  );
  expect(result.stderr).toMatch(/^kube-apiserver: .*EventRateLimit/);
  expect(result.stderr.trim().split('\n')).toHaveLength(1);
  expect(result.status).toBe(2);
});

it('refuses a busy port and says what to do', async () => {
  const server: Server = createServer();
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });
  const result = up(`--data-dir=${newDir()}`, `--api-port=${port}`);
  server.close();
  expect(result.stderr).toContain(
    `port ${port} on 127.0.0.1 is in use: stop what uses it, or choose another with --api-port`,
  );
  expect(result.status).toBe(2);
});

it('refuses a data directory that a running cluster uses', async () => {
  const cluster = await ClusterProcess.start(['--nodes=0']);
  try {
    const result = up(`--data-dir=${cluster.dataDir}`, '--api-port=0');
    expect(result.stderr).toMatch(/the data directory .* is in use by a running cluster \(pid \d+\)/);
    expect(result.status).toBe(2);
  } finally {
    await cluster.stopAndRemove();
  }
});

it.each(['storage/state.db', 'cluster.json'])('refuses a damaged %s and overwrites nothing', (file) => {
  const dataDir = newDir();
  const path = join(dataDir, file);
  mkdirSync(join(path, '..'), { recursive: true });
  const damaged = 'this is neither a database nor JSON '.repeat(200);
  writeFileSync(path, damaged);
  const result = up(`--data-dir=${dataDir}`, '--api-port=0');
  expect(result.stderr).toMatch(/damaged|not a database|corrupt/);
  expect(result.status).toBe(2);
  expect(readFileSync(path, 'utf8')).toBe(damaged);
});

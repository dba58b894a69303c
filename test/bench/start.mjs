// `npm run bench:start [-- --runs 5]`: how fast and how small a 3-node cluster is, in processes and in one process.
// Times are from the command's start on a fresh data directory; memory and CPU are of the idle cluster, launcher
// included. Prints the median, the fastest and the slowest run beside the aims.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import https from 'node:https';
import { createServer, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { build } from '../../tools/build.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const option = (name, fallback) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : Number(process.argv[at + 1]);
};
const runs = option('runs', 5);
const idleSeconds = option('idle', 10);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

const opens = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => (socket.destroy(), resolve(true)));
    socket.once('error', () => resolve(false));
  });

function processTree(pid) {
  const children = new Map();
  for (const entry of readdirSync('/proc').filter((e) => /^\d+$/.test(e))) {
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
    } catch (error) {
      if (error.code !== 'ENOENT' && error.code !== 'ESRCH') throw error;
    }
  }
  const tree = [pid];
  for (let i = 0; i < tree.length; i++) tree.push(...(children.get(tree[i]) ?? []));
  return tree;
}

const pssMB = (pids) =>
  pids.reduce(
    (sum, pid) =>
      sum + Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0),
    0,
  ) / 1024;

/** Seconds of CPU used so far; the kernel counts in hundredths. */
const cpuSeconds = (pids) =>
  pids.reduce((sum, pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return sum + (Number(fields[11]) + Number(fields[12])) / 100;
  }, 0);

function request(kubeconfig, { method = 'GET', path, body, onLine }) {
  const config = parse(readFileSync(kubeconfig, 'utf8'));
  const { user } = config.users[0];
  const decode = (data) => Buffer.from(data, 'base64');
  const url = new URL(path, config.clusters[0].cluster.server);
  return new Promise((resolve, reject) => {
    const req = https.request(url, {
      method,
      agent: false,
      ca: decode(config.clusters[0].cluster['certificate-authority-data']),
      cert: decode(user['client-certificate-data']),
      key: decode(user['client-key-data']),
      headers: body ? { 'content-type': 'application/json' } : {},
    });
    req.on('response', (res) => {
      let text = '';
      res.setEncoding('utf8');
      res.on('data', (chunk) => {
        text += chunk;
        if (!onLine) return;
        const lines = text.split('\n');
        text = lines.pop();
        for (const line of lines) if (onLine(JSON.parse(line))) (req.destroy(), resolve());
      });
      res.on('end', () =>
        res.statusCode < 300
          ? resolve(text)
          : reject(new Error(`${method} ${path}: ${res.statusCode} ${text}`)),
      );
      res.on('error', () => undefined);
    });
    req.on('error', (error) => (error.code === 'ECONNRESET' ? undefined : reject(error)));
    req.end(body ? JSON.stringify(body) : undefined);
  });
}

async function firstPod(kubeconfig) {
  const path = '/api/v1/namespaces/default/pods';
  const running = request(kubeconfig, {
    path: `${path}?watch=1&fieldSelector=metadata.name%3Dfirst`,
    onLine: (event) => event.object.status?.phase === 'Running',
  });
  const start = performance.now();
  await request(kubeconfig, {
    method: 'POST',
    path,
    body: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'first' },
      spec: { containers: [{ name: 'web', image: 'nginx' }] },
    },
  });
  await running;
  return performance.now() - start;
}

async function measure(flags) {
  const dataDir = mkdtempSync(join(tmpdir(), 'tk-bench-'));
  const port = await freePort();
  const start = performance.now();
  const child = spawn(
    process.execPath,
    [
      join(root, 'dist/run.cjs'),
      'tinkernetes',
      'up',
      `--data-dir=${dataDir}`,
      `--api-port=${port}`,
      ...flags,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let printed = '';
  child.stderr.on('data', (chunk) => (printed += chunk));
  const ready = new Promise((resolve, reject) => {
    child.stdout.on(
      'data',
      (chunk) => String(chunk).includes('Cluster ready') && resolve(performance.now() - start),
    );
    child.once('exit', () => reject(new Error(printed)));
  });
  while (!(await opens(port))) await sleep(5);
  const readyz = performance.now() - start;
  const nodesReady = await ready;
  const podRunning = await firstPod(join(dataDir, 'kubeconfig'));
  await sleep(8000); // what a start leaves to do afterwards is done
  const pids = processTree(child.pid);
  const cpuBefore = cpuSeconds(pids);
  await sleep(idleSeconds * 1000);
  const cpu = ((cpuSeconds(pids) - cpuBefore) / idleSeconds) * 100;
  const memory = pssMB(pids);
  child.removeAllListeners('exit');
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await gone;
  rmSync(dataDir, { recursive: true, force: true });
  return { readyz: readyz / 1000, nodesReady: nodesReady / 1000, podRunning: podRunning / 1000, memory, cpu };
}

const rows = [
  ['readyz', 'API server answers', 's', 2],
  ['nodesReady', 'all 3 nodes Ready', 's', 2],
  ['podRunning', 'first Pod Running after create', 's', 3],
  ['memory', 'memory, idle (PSS)', 'MB', 0],
  ['cpu', 'CPU, idle (% of one core)', '%', 1],
];
const aims = {
  processes: {
    readyz: '0.7 / 1.2',
    nodesReady: '2 / 3.5',
    podRunning: '0.2 / 0.5',
    memory: '450 / 650',
    cpu: '3',
  },
  'in one process': {
    readyz: '',
    nodesReady: '0.6 / 1.0',
    podRunning: '0.2 / 0.5',
    memory: '150 / 200',
    cpu: '3',
  },
};

await build();
console.log(`Node ${process.version}, median of ${runs} runs (fastest – slowest)\n`);
console.log('| | | measured | aim / must |\n| --- | --- | --- | --- |');
for (const [mode, flags] of [
  ['processes', []],
  ['in one process', ['--in-process', '--ephemeral']],
]) {
  await measure(flags); // fills V8's code cache, as any second start finds it
  const results = [];
  for (let i = 0; i < runs; i++) results.push(await measure(flags));
  for (const [key, label, unit, digits] of rows) {
    const values = results.map((r) => r[key]).sort((a, b) => a - b);
    const shown = (v) => v.toFixed(digits);
    console.log(
      `| ${mode} | ${label} | ${shown(values[Math.floor(values.length / 2)])} ${unit} (${shown(values[0])} – ${shown(values.at(-1))}) | ${aims[mode][key]} |`,
    );
  }
}

// `npm run bench:start [-- --runs 5]`: how fast and how small a 3-node cluster is, in processes and in one process.
// Times are from the command's start on a fresh data directory; memory and CPU are of the idle cluster, launcher
// included. Prints the median, the fastest and the slowest run beside the aims.
import https from 'node:https';
import { build } from '../../tools/build.mjs';
import { cpuSeconds, option, processTree, pssMB, request, sleep, startCluster } from './cluster.mjs';

const runs = option('runs', 5);
const idleSeconds = option('idle', 10);

/** Whether `/readyz` answers 200 now; whoever listens on the port before the API server does is none. */
const isReady = (port) =>
  new Promise((resolve) => {
    const req = https.get(
      { host: '127.0.0.1', port, path: '/readyz', agent: false, rejectUnauthorized: false },
      (res) => {
        res.resume();
        resolve(res.statusCode === 200);
      },
    );
    req.once('error', () => resolve(false));
  });

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
  const cluster = await startCluster(flags);
  const { startedAt: start, port } = cluster;
  const ready = cluster.ready.then(() => performance.now() - start);
  while (!(await isReady(port))) await sleep(10);
  const readyz = performance.now() - start;
  const nodesReady = await ready;
  const startCpu = cpuSeconds(processTree(cluster.pid));
  const podRunning = await firstPod(cluster.kubeconfig);
  await sleep(15_000); // what a start leaves to do afterwards is done
  const pids = processTree(cluster.pid);
  const cpuBefore = cpuSeconds(pids);
  await sleep(idleSeconds * 1000);
  const cpu = ((cpuSeconds(pids) - cpuBefore) / idleSeconds) * 100;
  const memory = pssMB(pids);
  await cluster.stop();
  return {
    readyz: readyz / 1000,
    nodesReady: nodesReady / 1000,
    startCpu,
    podRunning: podRunning / 1000,
    memory,
    cpu,
  };
}

const rows = [
  ['readyz', '/readyz answers', 's', 2],
  ['nodesReady', 'all 3 nodes Ready', 's', 2],
  // What compares on a machine that does other work, too.
  ['startCpu', 'CPU until then', 's', 2],
  ['podRunning', 'first Pod Running after create', 's', 3],
  ['memory', 'memory, idle (PSS)', 'MB', 0],
  ['cpu', 'CPU, idle (% of one core)', '%', 1],
];
const aims = {
  processes: {
    readyz: '0.7 / 1.2',
    nodesReady: '2 / 3.5',
    startCpu: '',
    podRunning: '0.2 / 0.5',
    memory: '450 / 650',
    cpu: '3',
  },
  'in one process': {
    readyz: '',
    nodesReady: '0.6 / 1.0',
    startCpu: '',
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

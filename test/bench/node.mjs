// `npm run bench:node [-- --pods 200] [-- --singles 100] [-- --light 1000 --each 10] [-- --profile DIR]`: how fast one
// node starts Pods and what they cost it: kubelet and runtime are the processes that are looked at, the API server,
// scheduler and controllers run beside them. `--profile` writes CPU profiles of both.
import { build } from '../../tools/build.mjs';
import {
  cpuByComponent,
  cpuSeconds,
  ended,
  option,
  processTree,
  pssMB,
  request,
  sleep,
  startCluster,
} from './cluster.mjs';
import { startNode } from './components.mjs';

const pods = option('pods', 200);
const singles = option('singles', 100);
const light = option('light', 0);
const each = option('each', 10);
const podsPath = '/api/v1/namespaces/default/pods';

const create = (kubeconfig, name) =>
  request(kubeconfig, {
    method: 'POST',
    path: podsPath,
    body: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [{ name: 'pause', image: 'registry.k8s.io/pause:3.10' }],
      },
    },
  });

/** Resolves when as many Pods as said have been seen Running, or, with `gone`, deleted. */
function seen(kubeconfig, { count, gone = false, path = podsPath }) {
  const names = new Set();
  return request(kubeconfig, {
    path: `${path}${path.includes('?') ? '&' : '?'}watch=1`,
    onLine: ({ type, object }) => {
      if (gone ? type === 'DELETED' : object.status?.phase === 'Running') names.add(object.metadata.name);
      return names.size >= count;
    },
  });
}

const nodesReady = (kubeconfig, count) => {
  const ready = new Set();
  return request(kubeconfig, {
    path: '/api/v1/nodes?watch=1',
    onLine: ({ object }) => {
      if (object.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True'))
        ready.add(object.metadata.name);
      return ready.size >= count;
    },
  });
};

async function manyPods(kubeconfig, prefix, count) {
  const running = seen(kubeconfig, { count });
  const start = performance.now();
  await Promise.all(Array.from({ length: count }, (_, i) => create(kubeconfig, `${prefix}-${i}`)));
  const created = performance.now() - start;
  await running;
  return { created: created / 1000, running: (performance.now() - start) / 1000 };
}

async function deleteAll(kubeconfig, count) {
  const gone = seen(kubeconfig, { count, gone: true });
  await request(kubeconfig, { method: 'DELETE', path: podsPath });
  await gone;
}

async function onePod(kubeconfig, name) {
  const running = seen(kubeconfig, { count: 1, path: `${podsPath}?fieldSelector=metadata.name%3D${name}` });
  const start = performance.now();
  const { metadata } = JSON.parse(await create(kubeconfig, name));
  await running;
  const took = performance.now() - start;
  const query = `fieldSelector=metadata.name%3D${name}&resourceVersion=${metadata.resourceVersion}`;
  const gone = seen(kubeconfig, { count: 1, gone: true, path: `${podsPath}?${query}` });
  await request(kubeconfig, { method: 'DELETE', path: `${podsPath}/${name}?gracePeriodSeconds=0` });
  await gone;
  return took;
}

const quantile = (sorted, q) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))];
const row = (label, measured, aim) => console.log(`| ${label} | ${measured} | ${aim} |`);

/** Runs the work on a fresh cluster without nodes but the given ones. */
async function onCluster(kubeletFlags, count, work) {
  const cluster = await startCluster(['--nodes=1', '--without=kubelet,mock-runtime,kube-proxy,cluster-dns']);
  let node = [];
  try {
    await cluster.ready;
    node = startNode(cluster, { index: 1, kubeletFlags: ['--max-pods=250', ...kubeletFlags] });
    const start = performance.now();
    await nodesReady(cluster.kubeconfig, count);
    await work(
      cluster,
      node.map((child) => child.pid),
      (performance.now() - start) / 1000,
    );
  } finally {
    for (const child of [...node].reverse()) await ended(child);
    await cluster.stop();
  }
}

async function oneNode({ kubeconfig, pid }, pids) {
  const all = [...pids, ...processTree(pid)];
  await manyPods(kubeconfig, 'warm', 20);
  await deleteAll(kubeconfig, 20);
  await sleep(3000);
  const before = pssMB(pids);
  const cpuBefore = cpuByComponent(all);
  const { created, running } = await manyPods(kubeconfig, 'pod', pods);
  const cpu = [...cpuByComponent(all)].map(([app, used]) => [app, used - cpuBefore.get(app)]);
  row(
    `${pods} Pods on one node, create to Running`,
    `${running.toFixed(2)} s (created after ${created.toFixed(2)} s)`,
    '2 / 4 s',
  );
  const seconds = cpu.map(([app, used]) => `${app} ${used.toFixed(1)}`).join(', ');
  row('… CPU, s', `${cpu.reduce((sum, [, used]) => sum + used, 0).toFixed(1)} (${seconds})`, '');
  await sleep(10_000);
  row('memory (PSS) per idle Pod', `${((pssMB(pids) - before) / pods).toFixed(2)} MB`, '≤ 0.6 MB');
  await deleteAll(kubeconfig, pods);
  await sleep(1000);
  const times = [];
  for (let i = 0; i < singles; i++) times.push(await onePod(kubeconfig, `single-${i}`));
  times.sort((a, b) => a - b);
  row(
    'one Pod on an idle node, create to Running',
    `p50 ${quantile(times, 0.5).toFixed(0)} ms, p99 ${quantile(times, 0.99).toFixed(0)} ms`,
    'p99 ≤ 150 ms',
  );
}

async function lightNodes({ kubeconfig, pid }, pids, readySeconds) {
  row(`${light} light nodes Ready`, `${readySeconds.toFixed(1)} s`, '');
  const { running } = await manyPods(kubeconfig, 'pod', light * each);
  row(`${light * each} Pods on them, create to Running`, `${running.toFixed(1)} s`, '');
  await sleep(15_000);
  const all = [...pids, ...processTree(pid)];
  const before = cpuSeconds(all);
  await sleep(20_000);
  row('CPU, idle, whole cluster', `${((cpuSeconds(all) - before) / 20).toFixed(2)} cores`, '< 1');
  row('memory (PSS), whole cluster', `${pssMB(all).toFixed(0)} MB`, '≤ 1500 MB');
}

await build();
console.log(`Node ${process.version}\n\n| | measured | aim / must |\n| --- | --- | --- |`);
if (light > 0) await onCluster([`--nodes=${light}`], light, lightNodes);
else await onCluster([], 1, oneNode);

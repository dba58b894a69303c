// `npm run bench:node [-- --pods 200] [-- --singles 100] [-- --light 1000 --each 10] [-- --profile DIR]`: how fast one
// node starts Pods and what they cost it: kubelet and runtime are the processes that are looked at, the API server,
// scheduler and controllers run beside them. `--profile` writes CPU profiles of both.
import { build } from '../../tools/build.mjs';
import {
  byComponent,
  cpuByComponent,
  ended,
  option,
  processTree,
  pssMB,
  request,
  sleep,
  startCluster,
} from './cluster.mjs';
import { startManager, startNode } from './components.mjs';

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

/** The CPU that each component has used since. */
const since = (before, all) =>
  new Map([...cpuByComponent(all)].map(([app, used]) => [app, used - before.get(app)]));
const quantile = (sorted, q) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))];
const row = (label, measured, aim) => console.log(`| ${label} | ${measured} | ${aim} |`);

/** Runs the work on a fresh cluster without nodes but one, or so many light ones. */
async function onCluster(lightNodes, work) {
  const without = '--without=kubelet,mock-runtime,kube-proxy,cluster-dns,controller-manager';
  const cluster = await startCluster(['--nodes=1', without]);
  const children = [];
  try {
    await cluster.ready;
    // Ranges for 1,024 nodes of 62 Pods, or for 256 nodes of 254.
    const manager = startManager(cluster, [`--node-cidr-mask-size=${lightNodes > 0 ? 26 : 24}`]);
    const node = startNode(cluster, {
      index: 1,
      kubeletFlags: ['--max-pods=250', ...(lightNodes > 0 ? [`--nodes=${lightNodes}`] : [])],
      identity: lightNodes > 0 ? cluster.kubeconfig : undefined,
    });
    children.push(manager, ...node);
    const start = performance.now();
    await nodesReady(cluster.kubeconfig, Math.max(1, lightNodes));
    await work(
      { ...cluster, all: [...children.map((child) => child.pid), ...processTree(cluster.pid)] },
      node.map((child) => child.pid),
      (performance.now() - start) / 1000,
    );
  } finally {
    for (const child of [...children].reverse()) await ended(child);
    await cluster.stop();
  }
}

async function oneNode({ kubeconfig, all }, pids) {
  await manyPods(kubeconfig, 'warm', 20);
  await deleteAll(kubeconfig, 20);
  await sleep(3000);
  const before = pssMB(pids);
  const cpuBefore = cpuByComponent(all);
  const { created, running } = await manyPods(kubeconfig, 'pod', pods);
  const cpu = since(cpuBefore, all);
  row(
    `${pods} Pods on one node, create to Running`,
    `${running.toFixed(2)} s (created after ${created.toFixed(2)} s)`,
    '2 / 4 s',
  );
  row('… CPU, s', shares(cpu, 1).join(' '), '');
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

/** A total and the part of each component. */
const shares = (byComponent, digits) => {
  const total = [...byComponent.values()].reduce((sum, part) => sum + part, 0);
  const parts = [...byComponent].map(([app, part]) => `${app} ${part.toFixed(digits)}`);
  return [total.toFixed(digits), `(${parts.join(', ')})`];
};

async function lightNodes({ kubeconfig, all }, _node, readySeconds) {
  row(`${light} light nodes Ready`, `${readySeconds.toFixed(1)} s`, '');
  row('… CPU, s', shares(cpuByComponent(all), 1).join(' '), '');
  const before = cpuByComponent(all);
  const { running } = await manyPods(kubeconfig, 'pod', light * each);
  row(`${light * each} Pods on them, create to Running`, `${running.toFixed(1)} s`, '');
  row('… CPU, s', shares(since(before, all), 1).join(' '), '');
  await sleep(15_000);
  const idle = cpuByComponent(all);
  const idleFrom = performance.now();
  await sleep(20_000);
  const seconds = (performance.now() - idleFrom) / 1000;
  const used = new Map([...since(idle, all)].map(([app, cpu]) => [app, cpu / seconds]));
  const [cores, ofCores] = shares(used, 2);
  row('CPU, idle, whole cluster', `${cores} cores ${ofCores}`, '< 1');
  const [memory, ofMemory] = shares(byComponent(all, pssMB), 0);
  row('memory (PSS), whole cluster', `${memory} MB ${ofMemory}`, '≤ 1500 MB');
}

await build();
console.log(`Node ${process.version}\n\n| | measured | aim / must |\n| --- | --- | --- |`);
await onCluster(light, light > 0 ? lightNodes : oneNode);

// `npm run bench:controllers [-- --only deployment,rollout,jobs,namespace,idle] [-- --profile DIR]`: how fast the
// controllers are on the full real path (API server on durable sqlite, scheduler, kubelets, CRI, CNI; no probes), each
// shape on a fresh cluster. `--profile` writes CPU profiles of the controller manager, kubelets and runtimes, and tells
// where the manager's event loop was blocked for longest.
import http from 'node:http';
import { build } from '../../tools/build.mjs';
import {
  cpuByComponent,
  cpuSeconds,
  ended,
  freePort,
  processTree,
  request,
  sleep,
  startCluster,
} from './cluster.mjs';
import { measureBlocks, startManager, startNode } from './components.mjs';
import { longestBlock } from './longest-block.mjs';

const onlyAt = process.argv.indexOf('--only');
const only = onlyAt < 0 ? undefined : process.argv[onlyAt + 1].split(',');

const scrape = (port) =>
  new Promise((resolve, reject) => {
    http
      .get({ host: '127.0.0.1', port, path: '/metrics', agent: false }, (res) => {
        let text = '';
        res.setEncoding('utf8').on('data', (chunk) => (text += chunk));
        res.on('end', () => resolve(text));
      })
      .on('error', reject);
  });
/** Resolves when the manager serves its metrics. */
async function answers(port) {
  for (;;) {
    const isUp = await scrape(port).then(
      () => true,
      () => false,
    );
    if (isUp) return;
    await sleep(50);
  }
}

/** Longest delay of the manager's event loop since the last call. */
const delayMs = async (port) =>
  Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(await scrape(port))?.[1]) * 1000;

/** Runs the work on a fresh cluster of its own. */
async function onCluster({ nodes = 3, kubeletFlags = ['--max-pods=700'], readyNodes = nodes }, work) {
  const without = '--without=kubelet,mock-runtime,kube-proxy,cluster-dns,controller-manager';
  const cluster = await startCluster(['--nodes=1', without]);
  const children = [];
  const windows = [];
  try {
    await cluster.ready;
    const port = await freePort();
    // With metrics, and with room for more than a hundred Pods on a node.
    const manager = startManager(cluster, ['--node-cidr-mask-size=22', `--secure-port=${port}`]);
    children.push(manager);
    for (let index = 1; index <= nodes; index++)
      children.push(...startNode(cluster, { index, kubeletFlags }));
    const { kubeconfig } = cluster;
    if (readyNodes > 0) await seen(kubeconfig, '/api/v1/nodes', { count: readyNodes, when: isNodeReady });
    await sleep(2000); // what a start leaves to do afterwards is done
    await answers(port);
    const pids = [...processTree(cluster.pid).slice(1), ...children.map((child) => child.pid)];
    const cpu = () => cpuByComponent(pids);
    await work({ kubeconfig, manager, delay: () => delayMs(port), cpuByComponent: cpu, windows });
  } finally {
    for (const child of [...children].reverse()) await ended(child);
    await cluster.stop();
  }
  const [{ profile }] = children;
  if (profile) windows.forEach((window) => tellBlock(profile, window));
}

/** Where the manager spent the longest block of a measurement. */
function tellBlock(profile, { label, from, to }) {
  const { ms, stack } = longestBlock(profile, { from, to });
  console.log(
    `\n${label}: by the profile the longest block took ${ms.toFixed(0)} ms, in\n  ${stack.join('\n  ')}`,
  );
}

const isNodeReady = ({ object }) =>
  object.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True');

/** Resolves when `when` has held for as many objects as said. */
function seen(kubeconfig, path, { count, when }) {
  const names = new Set();
  return request(kubeconfig, {
    path: `${path}?watch=1`,
    onLine: (event) => {
      if (when(event)) names.add(event.object.metadata.name);
      return names.size >= count;
    },
  });
}

const post = (kubeconfig, path, body) => request(kubeconfig, { method: 'POST', path, body });
const times = (count, make) => Promise.all(Array.from({ length: count }, (_, i) => make(i)));
async function seconds(work) {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

const deploymentsPath = '/apis/apps/v1/namespaces/default/deployments';
const deployment = (name, replicas, image = 'registry.k8s.io/pause:3.9') => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'main', image }] } },
  },
});
const isRolledOut = ({ object: { metadata, spec, status = {} } }) =>
  status.observedGeneration === metadata.generation &&
  [status.updatedReplicas, status.availableReplicas, status.replicas].every((n) => n === spec.replicas);

const row = (label, measured, aim) => console.log(`| ${label} | ${measured} | ${aim} |`);
/** The monotonic clock that profiles count in, too. */
const microseconds = () => Number(process.hrtime.bigint() / 1000n);

async function timed({ manager, delay, cpuByComponent, windows }, { label, aim }, work) {
  const from = microseconds();
  await delay();
  const longestBlock = measureBlocks(manager);
  const before = cpuByComponent();
  const took = await seconds(work);
  const used = [...cpuByComponent()].map(([app, total]) => [app, total - (before.get(app) ?? 0)]);
  row(label, `${took.toFixed(1)} s`, aim);
  row('… CPU', used.map(([app, s]) => `${app} ${s.toFixed(1)} s`).join(', '), '');
  const ms = (value) => `${value.toFixed(0)} ms`;
  row(
    '… longest block of the manager’s event loop, by its time on a CPU',
    ms(await longestBlock()),
    '≤ 50 ms',
  );
  row('… longest delay, with what others on the machine took', ms(await delay()), '');
  windows.push({ label, from, to: microseconds() });
}

const shapes = {
  deployment: () =>
    onCluster({}, (cluster) =>
      timed(
        cluster,
        { label: 'Deployment of 500 replicas on 3 nodes available', aim: '5 / 9 s' },
        async () => {
          const done = seen(cluster.kubeconfig, deploymentsPath, { count: 1, when: isRolledOut });
          await post(cluster.kubeconfig, deploymentsPath, deployment('big', 500));
          await done;
        },
      ),
    ),

  rollout: () =>
    onCluster({}, async (cluster) => {
      const count = 100;
      const allRolledOut = () => seen(cluster.kubeconfig, deploymentsPath, { count, when: isRolledOut });
      const made = seconds(async () => {
        await times(count, (i) => post(cluster.kubeconfig, deploymentsPath, deployment(`d-${i}`, 10)));
        await allRolledOut();
      });
      row('100 Deployments of 10 replicas available', `${(await made).toFixed(1)} s`, '');
      await sleep(2000);
      await timed(cluster, { label: '… rolled to another image at once', aim: '20 / 40 s' }, async () => {
        const image = 'registry.k8s.io/pause:3.10';
        await times(count, (i) =>
          request(cluster.kubeconfig, {
            method: 'PATCH',
            path: `${deploymentsPath}/d-${i}`,
            contentType: 'application/strategic-merge-patch+json',
            body: { spec: { template: { spec: { containers: [{ name: 'main', image }] } } } },
          }),
        );
        await allRolledOut();
      });
    }),

  jobs: () =>
    onCluster({}, (cluster) =>
      timed(cluster, { label: '1,000 Jobs finished', aim: '40 s' }, async () => {
        const path = '/apis/batch/v1/namespaces/default/jobs';
        const isComplete = ({ object }) =>
          object.status?.conditions?.some((c) => c.type === 'Complete' && c.status === 'True');
        const done = seen(cluster.kubeconfig, path, { count: 1000, when: isComplete });
        const containers = [{ name: 'main', image: 'busybox', command: ['true'] }];
        await times(1000, (i) =>
          post(cluster.kubeconfig, path, {
            apiVersion: 'batch/v1',
            kind: 'Job',
            metadata: { name: `job-${i}` },
            spec: { template: { spec: { restartPolicy: 'Never', containers } } },
          }),
        );
        await done;
      }),
    ),

  namespace: () =>
    onCluster({ nodes: 0 }, async (cluster) => {
      const path = '/api/v1/namespaces';
      await post(cluster.kubeconfig, path, {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'full' },
      });
      for (const [resource, kind] of [
        ['configmaps', 'ConfigMap'],
        ['secrets', 'Secret'],
      ])
        await times(1000, (i) =>
          post(cluster.kubeconfig, `${path}/full/${resource}`, {
            apiVersion: 'v1',
            kind,
            metadata: { name: `o-${i}` },
          }),
        );
      await sleep(2000);
      await timed(
        cluster,
        { label: 'namespace with 2,000 objects without Pods deleted', aim: '2 s' },
        async () => {
          const gone = seen(cluster.kubeconfig, path, {
            count: 1,
            when: ({ type, object }) => type === 'DELETED' && object.metadata.name === 'full',
          });
          await request(cluster.kubeconfig, { method: 'DELETE', path: `${path}/full` });
          await gone;
        },
      );
    }),

  idle: () =>
    onCluster(
      { nodes: 1, readyNodes: 20, kubeletFlags: ['--nodes=20', '--max-pods=110'] },
      async (cluster) => {
        await timed(
          cluster,
          { label: 'Deployment of 2,000 replicas on 20 light nodes available', aim: '' },
          async () => {
            const done = seen(cluster.kubeconfig, deploymentsPath, { count: 1, when: isRolledOut });
            await post(cluster.kubeconfig, deploymentsPath, deployment('big', 2000));
            await done;
          },
        );
        await sleep(20_000);
        const before = cpuSeconds([cluster.manager.pid]);
        await sleep(30_000);
        const share = ((cpuSeconds([cluster.manager.pid]) - before) / 30) * 100;
        row('CPU of the idle manager with 2,000 Pods', `${share.toFixed(1)} % of a core`, '< 1 %');
      },
    ),
};

await build();
console.log(`Node ${process.version}\n\n| | measured | aim / must |\n| --- | --- | --- |`);
for (const [name, run] of Object.entries(shapes)) if (!only || only.includes(name)) await run();

// `npm run bench:controllers [-- --only deployment,rollout,jobs,namespace,idle] [-- --profile DIR]`: how fast the
// controllers are on the full real path (API server on durable sqlite, scheduler, kubelets, CRI, CNI; no probes), each
// shape on a fresh cluster. `--profile` writes CPU profiles of the controller manager, kubelets and runtimes.
import http from 'node:http';
import { join } from 'node:path';
import { build } from '../../tools/build.mjs';
import { cpuSeconds, ended, freePort, request, sleep, startCluster } from './cluster.mjs';
import { component, startNode } from './components.mjs';

const onlyAt = process.argv.indexOf('--only');
const only = onlyAt < 0 ? undefined : process.argv[onlyAt + 1].split(',');

/** As `up` starts it, but with metrics, and with room for more than a hundred Pods on a node. */
function startManager({ dataDir }, port) {
  const flags = [
    `--kubeconfig=${dataDir}/kubeconfigs/controller-manager.kubeconfig`,
    '--allocate-node-cidrs',
    '--cluster-cidr=10.244.0.0/16',
    '--node-cidr-mask-size=22',
    `--cluster-signing-cert-file=${dataDir}/pki/ca.crt`,
    `--cluster-signing-key-file=${dataDir}/pki/ca.key`,
    `--root-ca-file=${dataDir}/pki/ca.crt`,
    '--use-service-account-credentials',
    '--leader-elect=false',
    `--secure-port=${port}`,
  ];
  return component('controller-manager', flags, join(dataDir, 'logs/controller-manager.log'));
}

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
/** Longest delay of the manager's event loop since the last call. */
const lagMs = async (port) =>
  Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(await scrape(port))?.[1]) * 1000;

/** Runs the work on a fresh cluster of its own. */
async function onCluster({ nodes = 3, kubeletFlags = ['--max-pods=700'], readyNodes = nodes }, work) {
  const without = '--without=kubelet,mock-runtime,kube-proxy,cluster-dns,controller-manager';
  const cluster = await startCluster(['--nodes=1', without]);
  const children = [];
  try {
    await cluster.ready;
    const port = await freePort();
    const manager = startManager(cluster, port);
    children.push(manager);
    for (let index = 1; index <= nodes; index++)
      children.push(...startNode(cluster, { index, kubeletFlags }));
    const { kubeconfig } = cluster;
    await seen(kubeconfig, '/api/v1/nodes', { count: readyNodes, when: isNodeReady });
    await sleep(2000); // what a start leaves to do afterwards is done
    await lagMs(port);
    await work({ kubeconfig, manager, lag: () => lagMs(port) });
  } finally {
    for (const child of children.reverse()) await ended(child);
    await cluster.stop();
  }
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
async function timed({ label, aim, lag }, work) {
  const took = await seconds(work);
  row(label, `${took.toFixed(1)} s`, aim);
  row('… longest block of the manager’s event loop', `${(await lag()).toFixed(0)} ms`, '≤ 50 ms');
}

const shapes = {
  deployment: () =>
    onCluster({}, ({ kubeconfig, lag }) =>
      timed({ label: 'Deployment of 500 replicas on 3 nodes available', aim: '5 / 9 s', lag }, async () => {
        const done = seen(kubeconfig, deploymentsPath, { count: 1, when: isRolledOut });
        await post(kubeconfig, deploymentsPath, deployment('big', 500));
        await done;
      }),
    ),

  rollout: () =>
    onCluster({}, async ({ kubeconfig, lag }) => {
      const count = 100;
      const allRolledOut = () => seen(kubeconfig, deploymentsPath, { count, when: isRolledOut });
      const made = seconds(async () => {
        await times(count, (i) => post(kubeconfig, deploymentsPath, deployment(`d-${i}`, 10)));
        await allRolledOut();
      });
      row('100 Deployments of 10 replicas available', `${(await made).toFixed(1)} s`, '');
      await sleep(2000);
      await lag();
      await timed({ label: '… rolled to another image at once', aim: '20 / 40 s', lag }, async () => {
        const image = 'registry.k8s.io/pause:3.10';
        await times(count, (i) =>
          request(kubeconfig, {
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
    onCluster({}, ({ kubeconfig, lag }) =>
      timed({ label: '1,000 Jobs finished', aim: '40 s', lag }, async () => {
        const path = '/apis/batch/v1/namespaces/default/jobs';
        const isComplete = ({ object }) =>
          object.status?.conditions?.some((c) => c.type === 'Complete' && c.status === 'True');
        const done = seen(kubeconfig, path, { count: 1000, when: isComplete });
        const containers = [{ name: 'main', image: 'busybox', command: ['true'] }];
        await times(1000, (i) =>
          post(kubeconfig, path, {
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
    onCluster({ nodes: 0 }, async ({ kubeconfig, lag }) => {
      const path = '/api/v1/namespaces';
      await post(kubeconfig, path, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'full' } });
      for (const [resource, kind] of [
        ['configmaps', 'ConfigMap'],
        ['secrets', 'Secret'],
      ])
        await times(1000, (i) =>
          post(kubeconfig, `${path}/full/${resource}`, {
            apiVersion: 'v1',
            kind,
            metadata: { name: `o-${i}` },
          }),
        );
      await sleep(2000);
      await lag();
      await timed(
        { label: 'namespace with 2,000 objects without Pods deleted', aim: '2 s', lag },
        async () => {
          const gone = seen(kubeconfig, path, {
            count: 1,
            when: ({ type, object }) => type === 'DELETED' && object.metadata.name === 'full',
          });
          await request(kubeconfig, { method: 'DELETE', path: `${path}/full` });
          await gone;
        },
      );
    }),

  idle: () =>
    onCluster(
      { nodes: 1, readyNodes: 20, kubeletFlags: ['--nodes=20', '--max-pods=110'] },
      async (cluster) => {
        const { kubeconfig, manager, lag } = cluster;
        await timed(
          { label: 'Deployment of 2,000 replicas on 20 light nodes available', aim: '', lag },
          async () => {
            const done = seen(kubeconfig, deploymentsPath, { count: 1, when: isRolledOut });
            await post(kubeconfig, deploymentsPath, deployment('big', 2000));
            await done;
          },
        );
        await sleep(20_000);
        const before = cpuSeconds([manager.pid]);
        await sleep(30_000);
        const share = ((cpuSeconds([manager.pid]) - before) / 30) * 100;
        row('CPU of the idle manager with 2,000 Pods', `${share.toFixed(1)} % of a core`, '< 1 %');
      },
    ),
};

await build();
console.log(`Node ${process.version}\n\n| | measured | aim / must |\n| --- | --- | --- |`);
for (const [name, run] of Object.entries(shapes)) if (!only || only.includes(name)) await run();

// The scheduler as a process against the API server as a process: Bindings over TLS, and memory with many objects.
import { spawn } from 'node:child_process';
import { mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { build } from '../../tools/build.mjs';
import { component } from './components.mjs';
import { cpuSeconds, ended, pssMB, request, sleep, startCluster } from './cluster.mjs';

const podsPath = '/api/v1/namespaces/default/pods';
const parallel = 16;

/** Pods bound per second, from the scheduler's first Binding to the last. All Pods wait when it starts. */
export async function measureBinding({ nodes, pods, binary }) {
  return withApiServer(async ({ kubeconfig, dataDir }) => {
    await createAll(kubeconfig, nodes, nodeRequest);
    await createAll(kubeconfig, pods, (i) => podRequest(i));
    const bound = [];
    const allBound = request(kubeconfig, {
      path: `${podsPath}?watch=1&fieldSelector=spec.nodeName!=`,
      onLine: ({ type }) => type === 'ADDED' && bound.push(performance.now()) >= pods,
    });
    const scheduler = startScheduler({ kubeconfig, dataDir, binary });
    await allBound;
    const seconds = (bound.at(-1) - bound[0]) / 1000;
    const [cpu, memory] = [cpuSeconds([scheduler.pid]), pssMB([scheduler.pid])];
    await ended(scheduler);
    const table = [
      '| nodes | Pods | bound per second | scheduler: CPU s | MB |',
      '| --- | --- | --- | --- | --- |',
      `| ${nodes} | ${pods} | ${Math.round(pods / seconds)} | ${cpu.toFixed(1)} | ${Math.round(memory)} |`,
    ];
    return table.join('\n');
  });
}

/** What the scheduler's process takes with so many nodes, and Pods that run on them. */
export async function measureMemory({ nodes, pods }) {
  return withApiServer(async ({ kubeconfig, dataDir }) => {
    await createAll(kubeconfig, nodes, nodeRequest);
    await createAll(kubeconfig, pods, (i) => podRequest(i, `node-${i % nodes}`));
    const scheduler = startScheduler({ kubeconfig, dataDir });
    // One more Pod: when it is bound, all the others have been read.
    await request(kubeconfig, podRequest('last'));
    for (;;) {
      const last = JSON.parse(await request(kubeconfig, { path: `${podsPath}/pod-last` }));
      if (last.spec.nodeName) break;
      await sleep(200);
    }
    const afterStart = pssMB([scheduler.pid]);
    await sleep(5000);
    const settled = pssMB([scheduler.pid]);
    await ended(scheduler);
    return `${nodes} nodes, ${pods} Pods: ${Math.round(afterStart)} MB right after the start, ${Math.round(settled)} MB five seconds later`;
  });
}

async function withApiServer(measure) {
  await build({ apps: ['tinkernetes', 'apiserver', 'scheduler'] });
  const without = ['controller-manager', 'mock-runtime', 'kubelet', 'scheduler', 'kube-proxy', 'cluster-dns'];
  const cluster = await startCluster([
    '--ephemeral',
    '--nodes=0',
    ...without.map((name) => `--without=${name}`),
  ]);
  try {
    await cluster.ready;
    // What a controller makes in a whole cluster; Pods can't be created without.
    const metadata = { name: 'default' };
    const path = '/api/v1/namespaces/default/serviceaccounts';
    await request(cluster.kubeconfig, { method: 'POST', path, body: { metadata } });
    return await measure(cluster);
  } finally {
    await cluster.stop();
  }
}

function startScheduler({ kubeconfig, dataDir, binary }) {
  const log = join(dataDir, 'logs', 'bench-scheduler.log');
  mkdirSync(join(dataDir, 'logs'), { recursive: true });
  const flags = [`--kubeconfig=${kubeconfig}`, '--leader-elect=false', '--secure-port=0'];
  if (!binary) return component('scheduler', flags, log);
  const upstream = [
    ...flags,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    // Its own limits would be what is measured.
    '--kube-api-qps=5000',
    '--kube-api-burst=5000',
  ];
  return spawn(binary, upstream, { stdio: ['ignore', 'ignore', openSync(log, 'a')] });
}

async function createAll(kubeconfig, count, requestFor) {
  let next = 0;
  const worker = async () => {
    for (let i = next++; i < count; i = next++) await request(kubeconfig, requestFor(i));
  };
  await Promise.all(Array.from({ length: parallel }, worker));
}

const capacity = { cpu: '32', memory: '64Gi', pods: '110' };
const nodeRequest = (i) => ({
  method: 'POST',
  path: '/api/v1/nodes',
  body: {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: `node-${i}`,
      labels: { 'kubernetes.io/hostname': `node-${i}`, 'topology.kubernetes.io/zone': `zone-${i % 3}` },
    },
    // Where no controller takes it away, the taint of new nodes stays: the Pods tolerate it.
    status: { capacity, allocatable: capacity, conditions: [{ type: 'Ready', status: 'True' }] },
  },
});

const podRequest = (i, nodeName) => ({
  method: 'POST',
  path: podsPath,
  body: {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `pod-${i}`, labels: { app: 'bench' } },
    spec: {
      nodeName,
      automountServiceAccountToken: false,
      tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoSchedule' }],
      containers: [
        {
          name: 'pause',
          image: 'registry.k8s.io/pause:3.10',
          resources: { requests: { cpu: '100m', memory: '100Mi' } },
        },
      ],
    },
  },
});

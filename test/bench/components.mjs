// The components that a benchmark looks at, started by it and not by `up`: with its own flags, and profiled on demand.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from './cluster.mjs';

/** As the launcher starts its children. */
const nodeFlags = [
  '--max-semi-space-size=4',
  '--v8-pool-size=1',
  ...(process.version.startsWith('v20.') ? ['--interrupt-budget=135168'] : []),
];
const env = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_TRIM_THRESHOLD_: '131072',
  MALLOC_MMAP_THRESHOLD_: '131072',
  ...process.env,
};
const profileAt = process.argv.indexOf('--profile');
const profileDir = profileAt < 0 ? undefined : process.argv[profileAt + 1];
let profiles = 0;

/** A component's bundle; `probe` measures its event loop (block-probe.cjs). With `--profile DIR` on the benchmark's command line it writes a CPU profile (`profile`) when it ends. */
export function component(app, argv, log, { probe = false } = {}) {
  const name = `${app}-${++profiles}.cpuprofile`;
  const profile = profileDir ? ['--cpu-prof', `--cpu-prof-dir=${profileDir}`, `--cpu-prof-name=${name}`] : [];
  const preload = probe ? [`--require=${join(root, 'test/bench/block-probe.cjs')}`] : [];
  mkdirSync(dirname(log), { recursive: true });
  const child = spawn(
    process.execPath,
    [...nodeFlags, ...profile, ...preload, join(root, 'dist/run.cjs'), app, ...argv],
    { env, stdio: ['ignore', 'ignore', openSync(log, 'a'), ...(probe ? ['ipc'] : [])] },
  );
  return Object.assign(child, { profile: profileDir && join(profileDir, name) });
}

/** Measures the event loop of a probed component, until the function that it returns is called: its longest block, by its time on a CPU, in ms. */
export function measureBlocks(child) {
  child.send('begin');
  return () =>
    new Promise((resolve) => {
      // The component itself tells its parent, too, that it is ready.
      child.on('message', ({ longestBlockMs }) => {
        if (longestBlockMs !== undefined) resolve(longestBlockMs);
      });
      child.send('end');
    });
}

/** The controller manager as `up` starts it, with more flags. */
export const startManager = ({ dataDir }, more) =>
  component(
    'controller-manager',
    [
      `--kubeconfig=${dataDir}/kubeconfigs/controller-manager.kubeconfig`,
      '--allocate-node-cidrs',
      '--cluster-cidr=10.244.0.0/16',
      `--cluster-signing-cert-file=${dataDir}/pki/ca.crt`,
      `--cluster-signing-key-file=${dataDir}/pki/ca.key`,
      `--root-ca-file=${dataDir}/pki/ca.crt`,
      '--use-service-account-credentials',
      ...['deployment', 'replicaset', 'job'].map((kind) => `--concurrent-${kind}-syncs=20`),
      '--leader-elect=false',
      '--secure-port=0',
      ...more,
    ],
    join(dataDir, 'logs/controller-manager.log'),
    { probe: true },
  );

/**
 * A node's two processes, the runtime and the kubelet; `index` counts from 1. `identity`: a kubeconfig for the kubelet, in
 * place of certificates that it asks for.
 */
export function startNode({ dataDir }, { index, kubeletFlags = [], identity }) {
  const name = `node-${index}`;
  const address = `172.30.0.${10 + index}`;
  const dir = join(dataDir, 'nodes', name);
  // A socket's path is short.
  const digest = createHash('sha256').update(dir).digest('hex').slice(0, 8);
  const sockets = join(tmpdir(), `tk-node-${digest}`);
  for (const d of [dir, sockets]) mkdirSync(d, { recursive: true });
  const cri = `unix://${sockets}/cri.sock`;
  const vnet = `unix://${sockets}/vnet.sock`;
  const runtimeFlags = [
    `--listen=${cri}`,
    `--vnet-listen=${vnet}`,
    `--root-dir=${dir}/runtime`,
    `--node-name=${name}`,
    `--node-address=${address}`,
    '--overlay-bind-address=127.0.0.1',
    '--host-alias=172.30.0.0/16=127.0.0.1',
    `--cni-conf-dir=${dir}/cni/net.d`,
    `--cni-bin-dir=${dir}/cni/bin`,
  ];
  const access = identity
    ? [`--kubeconfig=${identity}`]
    : [
        `--bootstrap-kubeconfig=${dataDir}/kubeconfigs/bootstrap-kubelet.kubeconfig`,
        `--kubeconfig=${dir}/kubelet/kubeconfig`,
      ];
  const flags = [
    ...access,
    `--root-dir=${dir}/kubelet`,
    `--hostname-override=${name}`,
    `--node-ip=${address}`,
    `--container-runtime-endpoint=${cri}`,
    `--vnet-endpoint=${vnet}`,
    '--address=127.0.0.1',
    '--port=0',
    `--client-ca-file=${dataDir}/pki/ca.crt`,
    '--cluster-dns=10.96.0.10',
    ...kubeletFlags,
  ];
  return [
    component('mock-runtime', runtimeFlags, join(dir, 'mock-runtime.log')),
    component('kubelet', flags, join(dir, 'kubelet.log')),
  ];
}

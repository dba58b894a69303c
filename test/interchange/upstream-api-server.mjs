// The real API server on a real etcd, and a cluster around them: three Nodes as objects, and of our controllers the one
// that makes ResourceClaims. Nothing runs there; who is placed where is all that is looked at.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ended, freePort, request, root, sleep } from '../bench/cluster.mjs';

const entry = join(root, 'dist/run.cjs');

/**
 * etcd, synchronising every write as it does by default, and kube-apiserver on it; resolves once that is ready.
 * `binaries`: folder with both programs. `flags`: more of kube-apiserver's.
 */
export async function startUpstreamApiServer(binaries, flags = []) {
  const dataDir = mkdtempSync(join(tmpdir(), 'tk-upstream-'));
  const [port, clientPort, peerPort] = [await freePort(), await freePort(), await freePort()];
  const logFile = join(dataDir, 'cluster.log');
  const log = openSync(logFile, 'a');
  const started = [];
  const start = (command, args) => {
    const child = spawn(command, args, { stdio: ['ignore', log, log] });
    started.push(child);
    return child;
  };
  const stop = async () => {
    for (const child of started.reverse()) await ended(child);
    rmSync(dataDir, { recursive: true, force: true });
  };
  const server = `https://127.0.0.1:${port}`;
  const init = [`--data-dir=${dataDir}`, `--server=${server}`, `--admin-server=${server}`];
  spawnSync(process.execPath, [entry, 'tinkernetes', 'init', ...init], { stdio: ['ignore', log, log] });
  const kubeconfig = join(dataDir, 'kubeconfig');
  const etcd = `http://127.0.0.1:${clientPort}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  const servers = [
    start(join(binaries, 'etcd'), [
      `--data-dir=${join(dataDir, 'etcd')}`,
      `--listen-client-urls=${etcd}`,
      `--advertise-client-urls=${etcd}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
    ]),
    start(join(binaries, 'kube-apiserver'), [...apiServerFlags({ dataDir, port, etcd }), ...flags]),
  ];
  try {
    await answering(kubeconfig, servers);
  } catch (error) {
    const lines = readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-10);
    await stop();
    throw new Error(`${error.message}; the last lines of its log:\n${lines.join('\n')}`, { cause: error });
  }
  return { dataDir, etcd, kubeconfig, pids: servers.map(({ pid }) => pid), start, stop };
}

/** `binaries`: folder with `kube-apiserver` and `etcd`. As `startCluster` of the benchmarks. */
export async function startUpstreamCluster(binaries) {
  // There are no controllers for what these wait for.
  const flags = ['--disable-admission-plugins=ServiceAccount,TaintNodesByCondition'];
  const { kubeconfig, start, stop } = await startUpstreamApiServer(binaries, flags);
  try {
    start(process.execPath, [
      entry,
      'controller-manager',
      `--kubeconfig=${kubeconfig}`,
      '--leader-elect=false',
      '--secure-port=0',
      '--controllers=resourceclaim-controller',
    ]);
    for (let i = 1; i <= 3; i++) await createNode(kubeconfig, `node-${i}`);
  } catch (error) {
    await stop();
    throw error;
  }
  return { kubeconfig, ready: Promise.resolve(), stop };
}

function apiServerFlags({ dataDir, port, etcd }) {
  const pki = (name) => join(dataDir, 'pki', name);
  return [
    `--etcd-servers=${etcd}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${port}`,
    `--client-ca-file=${pki('ca.crt')}`,
    `--tls-cert-file=${pki('apiserver.crt')}`,
    `--tls-private-key-file=${pki('apiserver.key')}`,
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${pki('sa.pub')}`,
    `--service-account-signing-key-file=${pki('sa.key')}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    '--authorization-mode=RBAC',
  ];
}

async function answering(kubeconfig, servers) {
  for (let attempt = 0; attempt < 240; attempt++) {
    const isReady = await request(kubeconfig, { path: '/readyz' }).then(
      () => true,
      () => false,
    );
    if (isReady) return;
    if (servers.some(({ exitCode }) => exitCode !== null)) throw new Error('a server ended as it started');
    await sleep(500);
  }
  throw new Error('the API server did not become ready within two minutes');
}

async function createNode(kubeconfig, name) {
  const resources = { cpu: '8', memory: '16Gi', 'ephemeral-storage': '100Gi', pods: '110' };
  const labels = { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux' };
  await request(kubeconfig, {
    method: 'POST',
    path: '/api/v1/nodes',
    body: {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels },
      status: {
        capacity: resources,
        allocatable: resources,
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    },
  });
}

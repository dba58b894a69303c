// The servers that `npm run bench:api` loads.
import { readFileSync } from 'node:fs';
import { binariesFolder, buildUpstream, upstreamVersion } from '../interchange/build-upstream.mjs';
import { startUpstreamApiServer } from '../interchange/upstream-api-server.mjs';
import { processTree, startCluster } from './cluster.mjs';
import { readKubeconfig } from './https-client.mjs';

/** An API server as `tinkernetes up` starts it, without anything that would add load. */
export async function startOwn() {
  const cluster = await startCluster([
    '--nodes=0',
    '--without=controller-manager,scheduler,kube-proxy,cluster-dns,kubelet,mock-runtime',
  ]);
  await cluster.ready;
  const isApiServer = (pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('apiserver');
  return {
    name: 'tinkernetes',
    access: readKubeconfig(cluster.kubeconfig),
    pids: processTree(cluster.pid).filter((pid) => pid !== cluster.pid && isApiServer(pid)),
    isNode: true,
    stop: () => cluster.stop(),
  };
}

/** The unmodified kube-apiserver and etcd, with their own defaults but for addresses and certificates. */
export async function startUpstream() {
  const binaries = binariesFolder();
  buildUpstream(binaries, ['kube-apiserver', 'etcd']);
  const { kubeconfig, pids, stop } = await startUpstreamApiServer(binaries);
  const name = `kube-apiserver ${upstreamVersion('k8s.io/kubernetes')} and etcd ${upstreamVersion('go.etcd.io/etcd/server/v3')}`;
  return { name, access: readKubeconfig(kubeconfig), pids, stop };
}

/** A server that runs somewhere; what it uses is what its /metrics say. */
export const runningServer = (kubeconfig) => ({
  name: 'the other',
  access: readKubeconfig(kubeconfig),
  stop: () => Promise.resolve(),
});

// `npm run test:interchange [-- --upstream-api]`: the unmodified upstream kube-scheduler in place of ours, and ours, on the
// same cluster with the same Pods: both must place the same ones, and say the same of the others. With `--upstream-api`
// both run on the unmodified kube-apiserver and etcd instead of our API server. Needs `go`, and some minutes for the first
// build (or the programs in `--binaries FOLDER`); not part of `npm test`.
import { spawn } from 'node:child_process';
import { mkdirSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ended, request, sleep, startCluster } from '../test/bench/cluster.mjs';
import { binariesFolder, buildUpstream } from '../test/interchange/build-upstream.mjs';
import { groups } from '../test/interchange/scenarios.mjs';
import { startUpstreamCluster } from '../test/interchange/upstream-api-server.mjs';
import { build } from './build.mjs';
import { installIfNeeded } from './install.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const results = join(root, 'test-results');
const binaries = binariesFolder();
const onUpstreamApi = process.argv.includes('--upstream-api');
const podsPath = '/api/v1/namespaces/default/pods';

installIfNeeded();
await build();
buildUpstream(binaries, ['kube-scheduler', ...(onUpstreamApi ? ['kube-apiserver', 'etcd'] : [])]);
mkdirSync(results, { recursive: true });
const ours = await verdictsOf('ours', (flags, log) =>
  spawn(process.execPath, [join(root, 'dist/run.cjs'), 'scheduler', ...flags], {
    stdio: ['ignore', log, log],
  }),
);
const theirs = await verdictsOf('upstream', (flags, log) => {
  const [kubeconfig] = flags;
  const path = kubeconfig.split('=')[1];
  const more = [`--authentication-kubeconfig=${path}`, `--authorization-kubeconfig=${path}`];
  return spawn(join(binaries, 'kube-scheduler'), [...flags, ...more], { stdio: ['ignore', log, log] });
});
compare();

/** Pod → node, or why none, once nothing changes any more. */
async function verdictsOf(name, start) {
  const cluster = onUpstreamApi
    ? await startUpstreamCluster(binaries)
    : await startCluster(['--ephemeral', '--nodes=3', '--without=scheduler']);
  const log = openSync(join(results, `interchange-${name}.log`), 'w');
  let scheduler;
  try {
    await cluster.ready;
    const { kubeconfig } = cluster;
    scheduler = start([`--kubeconfig=${kubeconfig}`, '--secure-port=0', '--leader-elect=true'], log);
    const get = async (path) => JSON.parse(await request(kubeconfig, { path }));
    const nodes = (await get('/api/v1/nodes')).items;
    const names = nodes.map(({ metadata }) => metadata.name).sort();
    const cpus = Number(nodes[0].status.allocatable.cpu);
    for (const group of groups(names)) {
      for (const { method = 'POST', path, body } of group) {
        const contentType = method === 'PATCH' ? 'application/merge-patch+json' : undefined;
        await request(kubeconfig, { method, path, body: withCpu(body, cpus), contentType });
      }
      await settled(() => get(podsPath));
    }
    return new Map((await get(podsPath)).items.map((pod) => [pod.metadata.name, verdictOf(pod)]));
  } finally {
    if (scheduler) await ended(scheduler);
    await cluster.stop();
  }
}

/** `60%`: of a node's CPUs. */
function withCpu(body, cpus) {
  const text = JSON.stringify(body).replace(/"cpu":"(\d+)%"/g, (_, part) => `"cpu":"${part * cpus * 10}m"`);
  return JSON.parse(text);
}

/** Resolves when Pods have not changed for two seconds. */
async function settled(list) {
  let before = '';
  for (let same = 0; same < 4;) {
    await sleep(500);
    const now = JSON.stringify((await list()).items.map(verdictOf));
    same = now === before ? same + 1 : 0;
    before = now;
  }
}

function verdictOf({ spec, status }) {
  if (spec.nodeName) return 'placed';
  const condition = status.conditions?.find(({ type }) => type === 'PodScheduled');
  return condition ? `${condition.reason}: ${condition.message}` : 'not looked at';
}

function compare() {
  const different = [...new Set([...ours.keys(), ...theirs.keys()])].filter(
    (name) => ours.get(name) !== theirs.get(name),
  );
  for (const name of [...ours.keys()].filter((known) => !different.includes(known)))
    console.log(`same       ${name}: ${ours.get(name)}`);
  for (const name of different)
    console.log(`DIFFERENT  ${name}\n  ours:     ${ours.get(name)}\n  upstream: ${theirs.get(name)}`);
  console.log(`interchange: ${ours.size - different.length} Pods the same, ${different.length} different`);
  if (different.length > 0) process.exitCode = 1;
}

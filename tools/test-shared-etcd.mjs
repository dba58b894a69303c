// `npm run test:shared-etcd`: the unmodified kube-apiserver and our API server on one etcd at the same time. What each of
// them wrote (protobuf and JSON there, JSON here) the other must show the same, object by object, and watchers of both must
// see the writes of both in one order. Needs `go` for the first build, or the programs in `--binaries FOLDER`; not part of
// `npm test`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { freePort, request, root, sleep } from '../test/bench/cluster.mjs';
import { binariesFolder, buildUpstream } from '../test/interchange/build-upstream.mjs';
import { sharedObjects, widget, widgets } from '../test/interchange/shared-objects.mjs';
import { startUpstreamApiServer } from '../test/interchange/upstream-api-server.mjs';
import { build } from './build.mjs';
import { installIfNeeded } from './install.mjs';

const configMaps = '/api/v1/namespaces/shared/configmaps';
const problems = [];
const fail = (problem) => problems.push(problem);

installIfNeeded();
await build();
const binaries = binariesFolder();
buildUpstream(binaries, ['kube-apiserver', 'etcd']);
const upstream = await startUpstreamApiServer(binaries);
try {
  const theirs = upstream.kubeconfig;
  await createAll(theirs);
  const ours = await startOurs(upstream);
  const kinds = await listedKinds(theirs);
  let compared = await compareAll({ ours, theirs, kinds });
  console.log(`${compared} objects that kube-apiserver wrote, in ${kinds.length} lists: compared`);
  await writeAll(ours, theirs);
  compared = await compareAll({ ours, theirs, kinds });
  console.log(`${compared} objects after writes of both: compared`);
  const events = await compareWatches(ours, theirs);
  console.log(`${events} events of alternating writes: compared`);
} finally {
  await upstream.stop();
}
for (const problem of problems) console.log(`DIFFERENT  ${problem}`);
console.log(`shared etcd: ${problems.length} differences`);
if (problems.length > 0) process.exitCode = 1;

/** Ours, with the certificates of the cluster that the other one was started for. Returns a kubeconfig that leads to it. */
async function startOurs({ dataDir, etcd, start }) {
  const port = await freePort();
  const pki = (name) => join(dataDir, 'pki', name);
  start(process.execPath, [
    join(root, 'dist/run.cjs'),
    'apiserver',
    `--storage=etcd:${etcd}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--client-ca-file=${pki('ca.crt')}`,
    `--tls-cert-file=${pki('apiserver.crt')}`,
    `--tls-private-key-file=${pki('apiserver.key')}`,
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${pki('sa.pub')}`,
    `--service-account-signing-key-file=${pki('sa.key')}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    '--authorization-mode=RBAC',
  ]);
  const kubeconfig = join(dataDir, 'ours.kubeconfig');
  const text = readFileSync(join(dataDir, 'kubeconfig'), 'utf8');
  writeFileSync(kubeconfig, text.replace(/server: .*/, `server: https://127.0.0.1:${port}`));
  await until(() => request(kubeconfig, { path: '/readyz' }));
  return kubeconfig;
}

async function createAll(kubeconfig) {
  const create = (path, body) => request(kubeconfig, { method: 'POST', path, body });
  for (const [path, body] of sharedObjects) await create(path, body);
  await until(() => create(widgets, widget));
}

/** Paths of everything that can be listed, in every version. */
async function listedKinds(kubeconfig) {
  const get = async (path) => JSON.parse(await request(kubeconfig, { path }));
  const groups = (await get('/apis')).groups.flatMap(({ versions }) => versions);
  const prefixes = ['/api/v1', ...groups.map(({ groupVersion }) => `/apis/${groupVersion}`)];
  const lists = await Promise.all(prefixes.map(async (prefix) => [prefix, (await get(prefix)).resources]));
  return lists.flatMap(([prefix, resources]) =>
    resources
      // ComponentStatuses are made up when they are asked for.
      .filter(({ name, verbs }) => verbs.includes('list') && name !== 'componentstatuses')
      .map(({ name }) => `${prefix}/${name}`),
  );
}

/** Every object as each of the two shows it; one that is just being written gets another chance. Returns how many. */
async function compareAll({ ours, theirs, kinds }) {
  let compared = 0;
  for (const path of kinds) {
    let difference;
    for (let attempt = 0; attempt < 3; attempt++) {
      const [there, here] = await Promise.all([objectsAt(theirs, path), objectsAt(ours, path)]);
      difference = differenceOf(there, here);
      if (difference === undefined) {
        compared += there.size;
        break;
      }
      await sleep(1000);
    }
    if (difference !== undefined) fail(`${path}: ${difference}`);
  }
  return compared;
}

async function objectsAt(kubeconfig, path) {
  const { items } = JSON.parse(await request(kubeconfig, { path }));
  return new Map(items.map((item) => [`${item.metadata.namespace ?? ''}/${item.metadata.name}`, item]));
}

function differenceOf(there, here) {
  for (const [name, object] of there) {
    if (!here.has(name)) return `${name} is missing here`;
    const path = firstDifference(object, here.get(name));
    if (path !== undefined) return `${name} ${path}`;
  }
  const more = [...here.keys()].find((name) => !there.has(name));
  return more && `${more} is missing there`;
}

/** Where two values differ first, with both. */
function firstDifference(there, here, path = '') {
  if (isDeepStrictEqual(there, here)) return undefined;
  const isObject = (value) => typeof value === 'object' && value !== null;
  if (!isObject(there) || !isObject(here))
    return `${path}: there ${JSON.stringify(there)}, here ${JSON.stringify(here)}`;
  for (const key of new Set([...Object.keys(there), ...Object.keys(here)])) {
    const found = firstDifference(there[key], here[key], `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return `${path}: ${JSON.stringify(there)}, ${JSON.stringify(here)}`;
}

/** Each writes what the other has written; neither overwrites what it has not seen. */
async function writeAll(ours, theirs) {
  const merge = (kubeconfig, path, body) =>
    request(kubeconfig, { method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
  const post = (kubeconfig, path, body) => request(kubeconfig, { method: 'POST', path, body });
  await merge(ours, '/apis/apps/v1/namespaces/shared/deployments/web', { spec: { replicas: 3 } });
  await merge(ours, `${widgets}/widget`, { spec: { size: 5 } });
  await post(ours, configMaps, { metadata: { name: 'ours' }, data: { by: 'us' } });
  await post(ours, widgets, { ...widget, metadata: { name: 'ours' } });
  await merge(theirs, `${configMaps}/ours`, { data: { also: 'them' } });
  await merge(theirs, `${widgets}/ours`, { spec: { size: 7 } });
  await request(ours, { method: 'DELETE', path: '/api/v1/namespaces/shared/secrets/password' });
  await request(theirs, { method: 'DELETE', path: `${widgets}/widget` });
  const read = JSON.parse(await request(ours, { path: `${configMaps}/settings` }));
  await merge(theirs, `${configMaps}/settings`, { data: { mode: 'changed' } });
  const refused = await request(ours, { method: 'PUT', path: `${configMaps}/settings`, body: read }).then(
    () => 'written',
    (error) => error.message,
  );
  if (!refused.includes(': 409 ')) fail(`an update of an old version here: ${refused}`);
}

/** Both write in turns; watchers of both must see the same. Returns how many events. */
async function compareWatches(ours, theirs) {
  const count = 40;
  const { metadata } = JSON.parse(await request(ours, { path: configMaps }));
  const path = `${configMaps}?watch=1&resourceVersion=${metadata.resourceVersion}`;
  const seen = [theirs, ours].map(async (kubeconfig) => {
    const events = [];
    const onLine = ({ type, object }) =>
      events.push(`${type} ${object.metadata.name} ${object.metadata.resourceVersion}`) === count;
    await request(kubeconfig, { path, onLine });
    return events;
  });
  for (let i = 0; i < count; i++) {
    const kubeconfig = i % 2 === 0 ? ours : theirs;
    await request(kubeconfig, {
      method: 'POST',
      path: configMaps,
      body: { metadata: { name: `turn-${i}` } },
    });
  }
  const [there, here] = await Promise.all(seen);
  if (!isDeepStrictEqual(there, here)) fail(`watches: ${firstDifference(there, here)}`);
  return count;
}

/** Tries for half a minute. */
async function until(attempt) {
  for (let i = 0; ; i++) {
    try {
      return await attempt();
    } catch (error) {
      if (i === 60) throw error;
      await sleep(500);
    }
  }
}

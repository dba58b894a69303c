import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { useCluster } from '../../harness/cluster-fixture';
import { podOf, shell } from '../../harness/pods';

/** Static Pods, from files and behind a URL, and the mirrors that show them. */
const directory = mkdtempSync(join(tmpdir(), 'tk-manifests-'));
let served: object = {};
const server = createServer((_, response) => response.end(JSON.stringify(served)));
const flags = ['--nodes=1', '--ephemeral', `--extra-config=kubelet.pod-manifest-path=${directory}`];

const manifest = (script: string) => podOf('static-web', { containers: [shell('main', script)] });
const write = (script: string) =>
  writeFileSync(join(directory, 'static-web.json'), JSON.stringify(manifest(script)));

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  flags.push(`--extra-config=kubelet.manifest-url=http://127.0.0.1:${port}/`);
  flags.push('--extra-config=kubelet.http-check-frequency=500ms');
});
const { run, attempt, apply, read, until } = useCluster(flags);
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
  server.closeAllConnections();
  server.close();
});

const annotation = (name: string) => `{.metadata.annotations.kubernetes\\.io/${name}}`;
const runs = (pod: string) => run(`wait --for=condition=Ready pod/${pod} --timeout=120s`);
const appears = (pod: string) => run(`wait --for=create pod/${pod} --timeout=120s`);
const logs = (text: string) =>
  until(async () => expect((await attempt('logs static-web-node-1')).stdout).toBe(text));
const isGone = (pod: string) =>
  until(async () => expect((await attempt(`get pod ${pod}`)).stderr).toContain('not found'));

it('from files: begin with a file, change with it and end with it', async () => {
  write('echo one; sleep 3600');
  await appears('static-web-node-1');
  await runs('static-web-node-1');
  await logs('one\n');
  expect(await read('pod/static-web-node-1', annotation('config\\.source'))).toBe('file');
  expect(await read('pod/static-web-node-1', '{.metadata.ownerReferences[*].kind}')).toBe('Node');
  write('echo two; sleep 3600');
  await logs('two\n');
  await runs('static-web-node-1');
  rmSync(join(directory, 'static-web.json'));
  await isGone('static-web-node-1');
});

it('from a URL: are what it answers', async () => {
  const { metadata, spec } = podOf('remote', { containers: [shell('main', 'sleep 3600')] });
  served = { kind: 'PodList', apiVersion: 'v1', items: [{ metadata, spec }] };
  await appears('remote-node-1');
  await runs('remote-node-1');
  expect(await read('pod/remote-node-1', annotation('config\\.source'))).toBe('http');
  served = { kind: 'PodList', apiVersion: 'v1', items: [] };
  await isGone('remote-node-1');
});

it('are shown by mirrors, which can be deleted but not the Pods', async () => {
  write('sleep 3600');
  await appears('static-web-node-1');
  await runs('static-web-node-1');
  const identity = async () => {
    const path = '{.metadata.uid} {.status.containerStatuses[0].containerID}';
    const [uid, container] = (await read('pod/static-web-node-1', path)).split(' ');
    return { uid, container };
  };
  const before = await identity();
  expect(await run('delete pod static-web-node-1')).toContain('pod "static-web-node-1" deleted');
  await appears('static-web-node-1');
  await runs('static-web-node-1');
  const after = await identity();
  expect(after.uid).not.toBe(before.uid);
  expect(after.container).toBe(before.container);
  const hash = await read('pod/static-web-node-1', annotation('config\\.hash'));
  expect(hash).toMatch(/^[0-9a-f]{32}$/);
  expect(await read('pod/static-web-node-1', annotation('config\\.mirror'))).toBe(hash);
});

it('from the API server: begin and end with the object', async () => {
  await apply(podOf('ordinary', { containers: [shell('main', 'sleep 3600')] }));
  await runs('ordinary');
  expect(await run('get pod ordinary -o wide')).toMatch(
    /^NAME +READY +STATUS +RESTARTS +AGE +IP +NODE .*\nordinary +1\/1 +Running +0 +\S+ +10\.244\.\S+ +node-1 +<none> +<none>\n$/,
  );
  await run('delete pod ordinary');
  await isGone('ordinary');
});

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  ApiextensionsV1Api,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  PatchStrategy,
  setHeaderOptions,
  Watch,
} from '@kubernetes/client-node';
import { eventually } from '@tinkernetes/component-base/testing';
import { CommandLineClient, transcript } from '../harness/clients';
import { ClusterProcess } from '../harness/cluster-process';

const clients = join(__dirname, '../clients');
const programTimeoutMs = 300_000;

function run(command: string, args: readonly string[], cwd: string): string {
  const result = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: programTimeoutMs });
  if (result.status !== 0) {
    throw new Error(
      `${command} ${args.join(' ')} ended with ${result.status}:\n${result.stdout}${result.stderr}`,
    );
  }
  return result.stdout;
}

const missing = (command: string, arg: string) =>
  spawnSync(command, [arg], { stdio: 'ignore' }).status === 0 ? undefined : `${command} is not installed`;

const definition = (group: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `kettles.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'kettles', singular: 'kettle', kind: 'Kettle' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: { size: { type: 'integer' }, mode: { type: 'string' } },
              },
            },
          },
        },
      },
    ],
  },
});

let cluster: ClusterProcess;
beforeAll(async () => {
  cluster = await ClusterProcess.start(['--ephemeral', '--nodes=0']);
});
afterAll(() => cluster?.stopAndRemove());

const noGo = missing('go', 'version');
(noGo ? describe.skip : describe)(`client-go${noGo ? ` (skipped: ${noGo})` : ''}`, () => {
  it.each(['json', 'protobuf'])(
    'creates, watches, patches, applies and deletes in %s, and fills an informer',
    (contentType) => {
      const args = ['run', '.', '-kubeconfig', cluster.kubeconfig, '-content-type', contentType];
      expect(run('go', args, join(clients, 'go'))).toBe('done\n');
    },
    programTimeoutMs,
  );
});

const noPython = missing('python3', '--version');
(noPython ? describe.skip : describe)(`the Python client${noPython ? ` (skipped: ${noPython})` : ''}`, () => {
  it(
    'creates, watches, patches, applies and deletes',
    () => {
      const directory = join(clients, 'python');
      const python = join(directory, '.cache/venv/bin/python');
      if (!existsSync(python)) run('python3', ['-m', 'venv', '.cache/venv'], directory);
      run(python, ['-m', 'pip', 'install', '--quiet', '-r', 'requirements.txt'], directory);
      expect(run(python, ['client.py', cluster.kubeconfig], directory)).toBe('done\n');
    },
    programTimeoutMs,
  );
});

it('@kubernetes/client-node creates, watches, patches, applies and deletes', async () => {
  const config = new KubeConfig();
  config.loadFromFile(cluster.kubeconfig);
  const core = config.makeApiClient(CoreV1Api);
  const namespace = 'node-client';
  await core.createNamespace({ body: { metadata: { name: namespace } } });
  const created = await core.createNamespacedConfigMap({
    namespace,
    body: { metadata: { name: 'a' }, data: { x: '1' } },
  });
  const seen: string[] = [];
  const watching = await new Watch(config).watch(
    `/api/v1/namespaces/${namespace}/configmaps`,
    { resourceVersion: created.metadata?.resourceVersion, fieldSelector: 'metadata.name=a' },
    (type) => seen.push(type),
    () => undefined,
  );
  const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
  const patched = await core.patchNamespacedConfigMap(
    { namespace, name: 'a', body: { data: { y: '2' } } },
    merge,
  );
  expect(patched.data).toEqual({ x: '1', y: '2' });
  expect((await core.listNamespacedConfigMap({ namespace, labelSelector: '!none' })).items).toContainEqual(
    expect.objectContaining({ data: { x: '1', y: '2' } }),
  );
  await core.deleteNamespacedConfigMap({ namespace, name: 'a' });
  await eventually(() => expect(seen).toEqual(['MODIFIED', 'DELETED']));
  watching.abort();

  const group = 'node.example.com';
  const definitions = config.makeApiClient(ApiextensionsV1Api);
  await definitions.createCustomResourceDefinition({ body: definition(group) });
  const custom = config.makeApiClient(CustomObjectsApi);
  const kettles = { group, version: 'v1', namespace, plural: 'kettles' };
  const kettle = { apiVersion: `${group}/v1`, kind: 'Kettle', metadata: { name: 'blue' } };
  await eventually(() =>
    custom.createNamespacedCustomObject({ ...kettles, body: { ...kettle, spec: { size: 1 } } }),
  );
  await custom.patchNamespacedCustomObject({ ...kettles, name: 'blue', body: { spec: { size: 2 } } }, merge);
  await custom.patchNamespacedCustomObject(
    { ...kettles, name: 'blue', fieldManager: 'node', body: { ...kettle, spec: { mode: 'fast' } } },
    setHeaderOptions('Content-Type', PatchStrategy.ServerSideApply),
  );
  expect(await custom.getNamespacedCustomObject({ ...kettles, name: 'blue' })).toMatchObject({
    spec: { size: 2, mode: 'fast' },
  });
  await custom.deleteNamespacedCustomObject({ ...kettles, name: 'blue' });
  await definitions.deleteCustomResourceDefinition({ name: `kettles.${group}` });
  await core.deleteNamespace({ name: namespace });
});

async function useKubectl(version: '28' | '32' | '35'): Promise<void> {
  const kubectl = new CommandLineClient('kubectl', version, cluster.kubeconfig);
  const group = `kubectl-${version}.example.com`;
  const name = `blue-${version}`;
  const apply = (object: object) =>
    kubectl.run(['apply', '--server-side', '-f', '-'], { input: JSON.stringify(object) });
  const watching = kubectl.spawn(['get', 'configmap', '--watch', '--output-watch-events']);
  const watched = transcript(watching);
  await watched.until('ADDED');
  const applied = (data: object) => ({
    input: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data }),
  });
  await kubectl.run(['create', 'configmap', name, '--from-literal=x=0', '--save-config']);
  await kubectl.run(['apply', '-f', '-'], applied({ x: '1' }));
  await kubectl.run(['patch', 'configmap', name, '--type=merge', '-p', '{"data":{"y":"2"}}']);
  expect(await kubectl.run(['get', 'configmap', name, '-o', 'jsonpath={.data.x}{.data.y}'])).toBe('12');
  expect(await kubectl.run(['get', 'configmaps'])).toMatch(new RegExp(`^${name} +2 `, 'm'));
  await kubectl.run(['delete', 'configmap', name]);
  await watched.until(new RegExp(`ADDED +${name}[^]*MODIFIED +${name}[^]*DELETED +${name}`));
  watching.kill();

  await apply(definition(group));
  await kubectl.run(['wait', '--for=condition=Established', `crd/kettles.${group}`, '--timeout=120s']);
  const kettle = { apiVersion: `${group}/v1`, kind: 'Kettle', metadata: { name, namespace: 'default' } };
  await apply({ ...kettle, spec: { size: 1 } });
  await kubectl.run(['patch', `kettles.${group}`, name, '--type=merge', '-p', '{"spec":{"mode":"fast"}}']);
  const shown = await kubectl.run([
    'get',
    `kettles.${group}`,
    name,
    '-o',
    'jsonpath={.spec.size}{.spec.mode}',
  ]);
  expect(shown).toBe('1fast');
  for (const size of [2, 3]) {
    await kubectl.run(['apply', '-f', '-'], {
      input: JSON.stringify({ ...kettle, metadata: { name: `${name}-2` }, spec: { size } }),
    });
  }
  expect(await kubectl.run(['get', `kettles.${group}`, '-o', 'name'])).toBe(
    `kettle.${group}/${name}\nkettle.${group}/${name}-2\n`,
  );
  await kubectl.run(['delete', `kettles.${group}`, '--all']);
  await kubectl.run(['delete', 'crd', `kettles.${group}`]);
}

it.each(['28', '32', '35'] as const)('kubectl 1.%s works with a kind and a custom resource', useKubectl);

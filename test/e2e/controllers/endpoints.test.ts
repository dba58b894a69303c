import { useCluster } from '../../harness/cluster-fixture';
import { podSpec } from '../../harness/workloads';

const { run, apply, read, until } = useCluster(['--nodes=1', '--storage=memory', '--without=cluster-dns']);
const service = (name: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ port: 80, targetPort: 'http' }], ...spec },
});
const pod = (name: string, app: string, port: number, container: object = {}, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app } },
  spec: podSpec('sleep 3600', {
    container: { ports: [{ name: 'http', containerPort: port }], ...container },
    spec,
  }),
});
const never = { readinessProbe: { exec: { command: ['false'] }, periodSeconds: 1 } };
/** `port: ready names / others`, a line each. */
const subsets = async (name: string) => {
  const names = (field: string) => `{range .${field}[*]}{.targetRef.name} {end}`;
  const each = `{range .subsets[*]}{.ports[*].port}: ${names('addresses')}/ ${names('notReadyAddresses')}{"\\n"}{end}`;
  return (await read(`endpoints/${name}`, each))
    .split('\n')
    .map((line) => line.trim())
    .sort();
};
/** `port name ready/serving/terminating`, a line each. */
const endpoints = async (name: string) => {
  const endpoint =
    '{range .endpoints[*]}{.targetRef.name} {.conditions.ready}/{.conditions.serving}/{.conditions.terminating},{end}';
  const each = `{range .items[*]}{.ports[*].port}:${endpoint}{"\\n"}{end}`;
  const slices = await read(`endpointslices -l kubernetes.io/service-name=${name}`, each);
  return slices
    .split('\n')
    .flatMap((line) => {
      const [port, rest = ''] = line.trim().split(':');
      return rest
        .split(',')
        .filter(Boolean)
        .map((text) => `${port} ${text}`);
    })
    .sort();
};

it('C17 keeps Pods apart whose named ports differ, and tells which are ready', async () => {
  await apply(
    service('web'),
    pod(
      'v1',
      'web',
      8080,
      { lifecycle: { preStop: { exec: { command: ['sleep', '3600'] } } } },
      { terminationGracePeriodSeconds: 3600 },
    ),
    pod('v2', 'web', 9090),
    pod('v3', 'web', 8080, never),
  );
  await until(async () => {
    expect(await subsets('web')).toEqual(['8080: v1 / v3', '9090: v2 /']);
    expect(await endpoints('web')).toEqual([
      '8080 v1 true/true/false',
      '8080 v3 false/false/false',
      '9090 v2 true/true/false',
    ]);
  });
  const managers = String.raw`{.items[*].metadata.labels.endpointslice\.kubernetes\.io/managed-by}`;
  expect(await read('endpointslices -l kubernetes.io/service-name=web', managers)).toBe(
    'endpointslice-controller.k8s.io endpointslice-controller.k8s.io',
  );
});

it('tells on Endpoints and slices for which change they were written', async () => {
  await run('expose pod v2 --name=late --port=80');
  const created = await read('svc/late', '{.metadata.creationTimestamp}');
  const time = String.raw`annotations.endpoints\.kubernetes\.io/last-change-trigger-time`;
  await until(async () => {
    expect(await read('endpoints/late', `{.metadata.${time}}`)).toBe(created);
    const slices = 'endpointslices -l kubernetes.io/service-name=late';
    expect(await read(slices, `{.items[*].metadata.${time}}`)).toBe(created);
  });
});

it('C17 publishes those that are not ready where it is asked to, and shows one that ends but still serves', async () => {
  await run(['patch', 'svc', 'web', '-p', '{"spec":{"publishNotReadyAddresses":true}}']);
  await until(async () => {
    expect(await subsets('web')).toEqual(['8080: v1 v3 /', '9090: v2 /']);
    expect(await endpoints('web')).toContain('8080 v3 true/false/false');
  });
  await run(['patch', 'svc', 'web', '-p', '{"spec":{"publishNotReadyAddresses":false}}']);
  await run('delete pod v1 --wait=false');
  await until(async () => {
    expect(await subsets('web')).toEqual(['8080: / v3', '9090: v2 /']);
    expect(await endpoints('web')).toContain('8080 v1 false/true/true');
  });
  await run('delete pod v1 --force --grace-period=0');
  await until(async () => expect((await endpoints('web')).filter((line) => line.includes('v1'))).toEqual([]));
});

it('gives the Pods of a headless Service their names, and a Service without a selector nothing', async () => {
  await apply(
    service('headless', { clusterIP: 'None', ports: [] }),
    pod('host-a', 'headless', 80, {}, { hostname: 'a', subdomain: 'headless' }),
    service('bare', { selector: undefined }),
  );
  await until(async () =>
    expect(await read('endpoints/headless', '{.subsets[*].addresses[*].hostname} {.subsets[*].ports}')).toBe(
      'a',
    ),
  );
  const label = String.raw`{.metadata.labels}`;
  expect(await read('endpoints/headless', label)).toContain('"service.kubernetes.io/headless":""');
  expect(await read('endpoints', '{.items[*].metadata.name}')).not.toContain('bare');
});

it('mirrors what a user writes, as far as 1000 addresses, and takes it away again', async () => {
  const addresses = Array.from({ length: 1001 }, (_, i) => ({ ip: `10.99.${i >> 8}.${i & 255}` }));
  await apply(service('outside', { selector: undefined }));
  const outside = {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'outside' },
    subsets: [{ addresses, ports: [{ port: 80 }] }],
  };
  await run('create -f -', JSON.stringify(outside));
  const slices = 'endpointslices -l kubernetes.io/service-name=outside';
  await until(async () => {
    const mirrored = await read(slices, '{.items[*].endpoints[*].addresses[0]}');
    expect(new Set(mirrored.split(' ')).size).toBe(1000);
  });
  const managers = String.raw`{.items[*].metadata.labels.endpointslice\.kubernetes\.io/managed-by}`;
  expect(await read(slices, managers)).toBe('endpointslicemirroring-controller.k8s.io');
  await run('delete endpoints outside');
  await until(async () => expect(await read(slices, '{.items[*].metadata.name}')).toBe(''));
});

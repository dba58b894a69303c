import { useCluster } from '../../harness/cluster-fixture';

/** Endpoints of Services, mirrored and hinted, and the addresses that Services get. */
const { run, attempt, apply, read, until } = useCluster([
  '--nodes=2',
  '--storage=memory',
  '--without=cluster-dns,kube-proxy',
]);

const service = (name: string, spec: object = {}, labels = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, labels },
  spec: { ports: [{ name: 'http', port: 80 }], ...spec },
});
const endpoints = (name: string, ips: readonly string[], metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: { name, ...metadata },
  subsets: [{ addresses: ips.map((ip) => ({ ip })), ports: [{ name: 'http', port: 8080 }] }],
});
const slicesOf = (name: string, path: string) =>
  read(`endpointslices -l kubernetes.io/service-name=${name}`, path);
const addressesOf = async (name: string) =>
  (await slicesOf(name, '{.items[*].endpoints[*].addresses[*]}')).split(' ').filter(Boolean).sort();

it('ServiceCIDR and IPAddress: a further range is given out, and kept while in use', async () => {
  await apply({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'ServiceCIDR',
    metadata: { name: 'extra' },
    spec: { cidrs: ['10.200.0.0/28'] },
  });
  await run('wait --for=condition=Ready servicecidr/extra --timeout=60s');
  await apply(service('pinned', { clusterIP: '10.200.0.5' }));
  expect(await read('ipaddress/10.200.0.5', '{.spec.parentRef.resource}/{.spec.parentRef.name}')).toBe(
    'services/pinned',
  );
  await run('delete servicecidr extra --wait=false');
  const ready =
    '{.status.conditions[?(@.type=="Ready")].reason}: {.status.conditions[?(@.type=="Ready")].message}';
  await until(async () =>
    expect(await read('servicecidr/extra', ready)).toBe(
      'Terminating: There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR',
    ),
  );
  const refused = await attempt('create service clusterip late --clusterip=10.200.0.6 --tcp=80');
  expect(refused.stderr).toContain('10.200.0.6');
  await run('delete service pinned');
});

it('mirroring: labels, annotations, changes; not where a label says so; gone with the Service', async () => {
  const metadata = { labels: { team: 'a' }, annotations: { 'example.com/note': 'b' } };
  await apply(service('outside'), endpoints('outside', ['192.0.2.1', '192.0.2.2'], metadata));
  await until(async () => expect(await addressesOf('outside')).toEqual(['192.0.2.1', '192.0.2.2']));
  const labels = await slicesOf('outside', '{.items[0].metadata.labels}');
  expect(JSON.parse(labels)).toEqual({
    team: 'a',
    'kubernetes.io/service-name': 'outside',
    'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
  });
  expect(JSON.parse(await slicesOf('outside', '{.items[0].metadata.annotations}'))).toEqual(
    metadata.annotations,
  );
  await run('delete endpointslices -l kubernetes.io/service-name=outside');
  await until(async () => expect(await addressesOf('outside')).toHaveLength(2));
  await apply(endpoints('outside', ['192.0.2.3'], { ...metadata, labels: { team: 'c' } }));
  await until(async () => {
    expect(await addressesOf('outside')).toEqual(['192.0.2.3']);
    expect(await slicesOf('outside', '{.items[0].metadata.labels.team}')).toBe('c');
  });
  await run('label endpoints outside endpointslice.kubernetes.io/skip-mirror=true');
  await until(async () => expect(await addressesOf('outside')).toEqual([]));
  await run('label endpoints outside endpointslice.kubernetes.io/skip-mirror-');
  await until(async () => expect(await addressesOf('outside')).toEqual(['192.0.2.3']));
  await run('delete service outside');
  await until(async () => expect(await addressesOf('outside')).toEqual([]));
});

it('mirroring: a slice a subset, and no more than 1000 addresses of it', async () => {
  const ips = Array.from({ length: 1001 }, (_, i) => `198.51.${100 + (i >> 8)}.${i & 255}`);
  const many = JSON.stringify(endpoints('many', ips));
  await apply(service('many'));
  await run('create -f -', many);
  await until(async () => expect(await addressesOf('many')).toHaveLength(1000));
  expect(await slicesOf('many', '{.items[*].metadata.generateName}')).toBe('many-');
  await until(async () =>
    expect(await read('events', '{.items[?(@.reason=="TooManyAddressesToMirror")].message}')).toBe(
      'A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 1 addresses were skipped',
    ),
  );
});

it('slices: a hundred endpoints each at most, with the labels that the Service has', async () => {
  // Ready without a node: what they run is no matter here.
  const pods = Array.from({ length: 105 }, (_, i) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `crowd-${i}`, labels: { app: 'crowd' } },
    spec: { schedulerName: 'nobody', containers: [{ name: 'main', image: 'nginx' }] },
  }));
  const statuses = pods.map(({ metadata: { name }, ...pod }, i) => ({
    ...pod,
    metadata: { name },
    status: {
      phase: 'Running',
      podIP: `10.9.0.${i}`,
      podIPs: [{ ip: `10.9.0.${i}` }],
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  }));
  const list = (items: object[]) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  await run('create -f -', list(pods));
  await run('apply --server-side --subresource=status -f -', list(statuses));
  await apply(service('crowd', { selector: { app: 'crowd' } }, { tier: 'front', old: 'x' }));
  const sizes = async () =>
    (await slicesOf('crowd', '{range .items[*]}{.endpoints[*].addresses}{"\\n"}{end}'))
      .split('\n')
      .map((line) => line.split(' ').length)
      .sort((a, b) => b - a);
  await until(async () => {
    expect(await sizes()).toEqual([100, 5]);
    expect(await read('endpoints/crowd', '{.subsets[*].addresses[*].ip}')).toMatch(/^(\S+ ){104}\S+$/);
  });
  const [name] = (await slicesOf('crowd', '{.items[*].metadata.name}')).split(' ');
  await run(['patch', 'endpointslice', name ?? '', '--type=merge', '-p', '{"endpoints":[]}']);
  await until(async () => expect(await sizes()).toEqual([100, 5]));
  await run('label service crowd old- new=y');
  await until(async () => {
    expect(await slicesOf('crowd', '{.items[*].metadata.labels.tier}')).toBe('front front');
    expect(await slicesOf('crowd', '{.items[*].metadata.labels.new}')).toBe('y y');
    expect(await slicesOf('crowd', '{.items[*].metadata.labels.old}')).toBe('');
  });
});

it('hints: by zone, while each has its share of the endpoints', async () => {
  await run('label node node-1 topology.kubernetes.io/zone=a');
  await run('label node node-2 topology.kubernetes.io/zone=b');
  await run('create deployment zoned --image=nginx --replicas=4');
  await apply({
    ...service('zoned', { selector: { app: 'zoned' }, trafficDistribution: 'PreferSameZone' }),
  });
  await run('rollout status deployment/zoned --timeout=120s');
  await until(async () => {
    const hints = await slicesOf(
      'zoned',
      '{range .items[*].endpoints[*]}{.zone}={.hints.forZones[*].name} {end}',
    );
    expect(hints.split(' ').sort()).toEqual(['a=a', 'a=a', 'b=b', 'b=b']);
  });
});

it('ServiceCIDR: goes some time after its last address', async () => {
  await run('wait --for=delete servicecidr/extra --timeout=120s');
  await until(async () => expect((await attempt('get ipaddress 10.200.0.5')).stderr).toContain('not found'));
});

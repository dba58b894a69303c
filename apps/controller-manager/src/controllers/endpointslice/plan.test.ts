import type { EndpointSlice, Pod, Service } from '@tinkernetes/api';
import { subsetsOf } from '../endpoints/subsets';
import { planSlices, type EndpointGroup } from './plan';
import { podToEndpoint, resolvePorts } from './pod-endpoints';

const service: Service = {
  metadata: { name: 'web', namespace: 'default' },
  spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 'http', protocol: 'TCP' }] },
};
const podOf = (index: number, port: number, { ready = true, deleting = false } = {}): Pod => ({
  metadata: {
    name: `v${index}`,
    namespace: 'default',
    uid: `uid-${index}`,
    labels: { app: 'web' },
    ...(deleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
  },
  spec: {
    nodeName: 'n1',
    containers: [{ name: 'c', ports: [{ name: 'http', containerPort: port, protocol: 'TCP' }] }],
  },
  status: {
    phase: 'Running',
    podIP: `10.0.${index >> 8}.${index & 255}`,
    podIPs: [{ ip: `10.0.${index >> 8}.${index & 255}` }],
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
  },
});
const groupsOf = (pods: readonly Pod[]): EndpointGroup[] => {
  const groups = new Map<string, EndpointGroup>();
  for (const pod of pods) {
    const ports = resolvePorts(pod, service);
    const group = groups.get(JSON.stringify(ports)) ?? { ports, endpoints: [] };
    group.endpoints.push(podToEndpoint(pod, service, undefined));
    groups.set(JSON.stringify(ports), group);
  }
  return [...groups.values()];
};

it('C17 keeps Pods whose named port differs in subsets and slices of their own', () => {
  const pods = [podOf(1, 8080), podOf(2, 9090)];
  expect(subsetsOf(service, pods).subsets.map((s) => s.ports?.map((p) => p.port))).toEqual([[8080], [9090]]);
  const plan = planSlices([], groupsOf(pods), { labels: {} });
  expect(plan.create.map((group) => group.ports.map((p) => p.port))).toEqual([[8080], [9090]]);
});

it.each([
  ['ready', {}, {}, { ready: true, serving: true, terminating: false }],
  ['not ready', { ready: false }, {}, { ready: false, serving: false, terminating: false }],
  [
    'not ready but published',
    { ready: false },
    { publishNotReadyAddresses: true },
    { ready: true, serving: false, terminating: false },
  ],
  ['terminating', { deleting: true }, {}, { ready: false, serving: true, terminating: true }],
])('C17 marks a Pod that is %s', (_, pod, spec, conditions) => {
  const published = { ...service, spec: { ...service.spec, ...spec } };
  expect(podToEndpoint(podOf(1, 8080, pod), published, undefined).conditions).toEqual(conditions);
});

it('C17 publishes a Pod that is not ready among the addresses when the Service says so', () => {
  const pods = [podOf(1, 8080, { ready: false })];
  expect(subsetsOf(service, pods).subsets[0]?.notReadyAddresses).toHaveLength(1);
  const published = { ...service, spec: { ...service.spec, publishNotReadyAddresses: true } };
  expect(subsetsOf(published, pods).subsets[0]?.addresses).toHaveLength(1);
});

it('C17 spreads 1200 Pods over slices of at most 100, and cuts Endpoints at 1000', () => {
  const pods = Array.from({ length: 1200 }, (_, i) => podOf(i, 8080));
  const sizes = planSlices([], groupsOf(pods), { labels: {} }).create.map((group) => group.endpoints.length);
  expect(Math.max(...sizes)).toBe(100);
  expect(sizes.reduce((a, b) => a + b, 0)).toBe(1200);
  const { subsets, truncated } = subsetsOf(service, pods);
  expect(truncated).toBe(true);
  expect(subsets.flatMap((s) => s.addresses ?? [])).toHaveLength(1000);
  expect(subsetsOf(service, pods.slice(0, 1000)).truncated).toBe(false);
});

it('writes nothing when nothing changed, and only the slice of a Pod that did', () => {
  const pods = [podOf(1, 8080), podOf(2, 9090)];
  const slices = planSlices([], groupsOf(pods), { labels: {} }).create.map((group, i): EndpointSlice => ({
    metadata: { name: `s${i}` },
    addressType: 'IPv4',
    ...group,
  }));
  expect(planSlices(slices, groupsOf(pods), { labels: {} })).toEqual({ create: [], update: [], delete: [] });
  const plan = planSlices(slices, groupsOf([podOf(1, 8080, { ready: false }), podOf(2, 9090)]), {
    labels: {},
  });
  expect(plan.update.map((s) => s.metadata.name)).toEqual(['s0']);
});

it('gives slices the labels that are wanted, takes others away, and leaves annotations alone unless it is told some', () => {
  const groups = groupsOf([podOf(1, 8080)]);
  const slice: EndpointSlice = {
    metadata: { name: 's', labels: { old: 'a', kept: 'b' }, annotations: { a: 'b' } },
    addressType: 'IPv4',
    ports: groups[0]?.ports,
    endpoints: groups[0]?.endpoints ?? [],
  };
  const written = (shape: Parameters<typeof planSlices>[2]) =>
    planSlices([slice], groups, shape).update.map(({ metadata }) => [metadata.labels, metadata.annotations]);
  expect(written({ labels: { old: 'a', kept: 'b' } })).toEqual([]);
  expect(written({ labels: { kept: 'b', new: 'c' } })).toEqual([[{ kept: 'b', new: 'c' }, { a: 'b' }]]);
  expect(written({ labels: { old: 'a', kept: 'b' }, annotations: {} })).toEqual([
    [{ old: 'a', kept: 'b' }, {}],
  ]);
});

it('fills slices up to the limit that it is given', () => {
  const groups = groupsOf(Array.from({ length: 150 }, (_, i) => podOf(i, 8080)));
  const sizes = (maxEndpoints?: number) =>
    planSlices([], groups, { labels: {}, maxEndpoints }).create.map(({ endpoints }) => endpoints.length);
  expect([sizes(), sizes(1000)]).toEqual([[100, 50], [150]]);
});

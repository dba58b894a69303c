import type { Endpoint, Node, Service } from '@tinkernetes/api';
import { automaticHints, hintsByPreference, wantsAutomaticHints } from './topology-hints';

const service = (spec: Partial<Service['spec']>, annotations?: Record<string, string>): Service => ({
  metadata: { name: 's', ...(annotations ? { annotations } : {}) },
  spec,
});
const endpoint = (zone?: string, ready = true): Endpoint => ({
  addresses: ['10.0.0.1'],
  conditions: { ready },
  nodeName: 'n1',
  ...(zone ? { zone } : {}),
});

it.each<[string | undefined, Endpoint, object | undefined]>([
  [undefined, endpoint('a'), undefined],
  ['PreferClose', endpoint('a'), { forZones: [{ name: 'a' }] }],
  ['PreferSameZone', endpoint('a'), { forZones: [{ name: 'a' }] }],
  ['PreferSameZone', endpoint(), undefined],
  ['PreferSameNode', endpoint('a'), { forNodes: [{ name: 'n1' }], forZones: [{ name: 'a' }] }],
  ['PreferSameNode', endpoint(), { forNodes: [{ name: 'n1' }] }],
  ['PreferSameNode', { addresses: [] }, undefined],
])('%s gives %j the hints %j', (trafficDistribution, found, hints) => {
  expect(hintsByPreference(service({ trafficDistribution }), found)).toEqual(hints);
});

it.each([
  [{ 'service.kubernetes.io/topology-mode': 'Auto' }, true],
  [{ 'service.kubernetes.io/topology-aware-hints': 'auto' }, true],
  [{ 'service.kubernetes.io/topology-mode': 'Disabled' }, false],
  [undefined, false],
])('hints are made automatically with %j: %s', (annotations, expected) => {
  expect(wantsAutomaticHints(service({}, annotations))).toBe(expected);
});

const node = (
  zone: string | undefined,
  cpu: string | undefined,
  more: Partial<Node['metadata']> = {},
): Node => ({
  metadata: {
    name: 'n',
    ...more,
    labels: { ...(zone ? { 'topology.kubernetes.io/zone': zone } : {}), ...more.labels },
  },
  spec: {},
  status: {
    ...(cpu ? { allocatable: { cpu } } : {}),
    conditions: [{ type: 'Ready', status: 'True' }],
  },
});
const many = (counts: Record<string, number>): Endpoint[] =>
  Object.entries(counts).flatMap(([zone, count]) =>
    Array.from({ length: count }, () => endpoint(zone === 'none' ? undefined : zone)),
  );
/** How many endpoints each zone is to use. */
function allocated(endpoints: Endpoint[], nodes: Node[]): Record<string, number> | string {
  const verdict = automaticHints(endpoints, nodes);
  if (!verdict.enabled) return verdict.reason;
  const counts: Record<string, number> = {};
  for (const { forZones } of verdict.hints.values())
    for (const { name } of forZones ?? []) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
const equal = [node('a', '4'), node('b', '4'), node('c', '4')];

it.each<[string, Record<string, number>, Node[], Record<string, number> | string]>([
  ['its own where that is enough', { a: 3, b: 3, c: 3 }, equal, { a: 3, b: 3, c: 3 }],
  ["others' where it has too few", { a: 8, b: 1, c: 0 }, equal, { a: 3, b: 3, c: 3 }],
  ['in proportion to CPU', { a: 3, b: 3 }, [node('a', '8'), node('b', '4')], { a: 4, b: 2 }],
  [
    'its own though another has more, within the threshold',
    { a: 4, b: 5 },
    equal.slice(0, 2),
    { a: 4, b: 5 },
  ],
  ['those in no zone of a node', { a: 2, b: 2, none: 2 }, equal.slice(0, 2), { a: 3, b: 3 }],
  [
    'none of the control plane',
    { a: 3, b: 3 },
    [
      ...equal.slice(0, 2),
      node('c', '4', { name: 'm', labels: { 'node-role.kubernetes.io/control-plane': '' } }),
    ],
    { a: 3, b: 3 },
  ],
  [
    'none without a zone',
    { a: 3 },
    [node('a', '4'), node(undefined, '4')],
    'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes',
  ],
  [
    'none without CPU',
    { a: 3 },
    [node('a', '4'), node('b', undefined)],
    'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes',
  ],
  ['none in one zone only', { a: 3 }, [node('a', '4')], 'Nodes only ready in one zone'],
  ['none of too few', { a: 2 }, equal, 'Insufficient number of endpoints (2 endpoints, 3 zones)'],
  [
    'none where a zone would be overloaded',
    { a: 2, b: 1 },
    [node('a', '10'), node('b', '1'), node('c', '1')],
    'Minimum allocation of required endpoints exceeds overload threshold',
  ],
])('a zone gets %s: %j', (_rule, counts, nodes, expected) => {
  expect(allocated(many(counts), nodes)).toEqual(expected);
});

it('leaves endpoints alone that are not ready', () => {
  const notReady = endpoint('a', false);
  const verdict = automaticHints([...many({ a: 2, b: 2 }), notReady], equal.slice(0, 2));
  expect(verdict.enabled && verdict.hints.has(notReady)).toBe(false);
});

import type { Node } from '@tinkernetes/api';
import { createMetrics } from '@tinkernetes/component-base';
import { EvictionLimiter } from './eviction-limiter';
import { areAllDown, evictionRates, healthOfZones, zoneState, type ZoneHealth } from './zones';

/** The flags' defaults. */
const limits = { unhealthyThreshold: 0.55, rate: 0.1, secondaryRate: 0.01, largeClusterSize: 50 };
const zones = (health: Record<string, [nodes: number, down: number]>): Map<string, ZoneHealth> =>
  new Map(Object.entries(health).map(([name, [nodes, down]]) => [name, { nodes, down }]));
const node = (name: string, labels: Record<string, string> = {}): Node => ({
  metadata: { name, labels },
  spec: {},
});
const inZone = (name: string, zone: string): Node =>
  node(name, { 'topology.kubernetes.io/region': 'r', 'topology.kubernetes.io/zone': zone });

// As upstream's TestZoneStateTransitions and ComputeZoneState have it.
it.each([
  [3, 0, 'Normal'],
  [1, 0, 'Normal'],
  [1, 1, 'FullDisruption'],
  [2, 1, 'Normal'],
  [2, 2, 'FullDisruption'],
  [3, 2, 'Normal'],
  [4, 3, 'PartialDisruption'],
  [5, 3, 'PartialDisruption'],
  [6, 3, 'Normal'],
  [100, 54, 'Normal'],
  [100, 55, 'PartialDisruption'],
  [100, 100, 'FullDisruption'],
] as const)('a zone of %i nodes with %i down is in state %s', (nodes, down, state) => {
  expect(zoneState({ nodes, down }, limits)).toBe(state);
});

it.each([
  ['--unhealthy-zone-threshold', { unhealthyThreshold: 0.8 }, 'Normal'],
  ['its default', {}, 'PartialDisruption'],
] as const)('three of four nodes down are judged by %s', (_, flag, state) => {
  expect(zoneState({ nodes: 4, down: 3 }, { ...limits, ...flag })).toBe(state);
});

it.each<[string, Record<string, [number, number]>, Record<string, number>]>([
  ['--node-eviction-rate in a normal zone', { a: [10, 1] }, { a: 0.1 }],
  ['none in a small zone that is partly down', { a: [50, 40] }, { a: 0 }],
  ['--secondary-node-eviction-rate in a large zone that is partly down', { a: [51, 40] }, { a: 0.01 }],
  [
    'the usual rate in a zone that is fully down while another is not',
    { a: [3, 3], b: [3, 0] },
    { a: 0.1, b: 0.1 },
  ],
  ['each zone by its own state', { a: [60, 40], b: [10, 9], c: [9, 0] }, { a: 0.01, b: 0, c: 0.1 }],
  ['C27 none at all when every zone is fully down', { a: [3, 3], b: [60, 60] }, { a: 0, b: 0 }],
  ['nothing to say without nodes', {}, {}],
])('evicts with %s', (_, health, rates) => {
  expect(Object.fromEntries(evictionRates(zones(health), limits))).toEqual(rates);
});

it('does not take a cluster without nodes for one that is down', () => {
  expect([areAllDown(zones({})), areAllDown(zones({ a: [1, 1] }))]).toEqual([false, true]);
});

it('counts nodes by region and zone, and not those excluded from disruption', () => {
  const nodes = [
    inZone('up', 'z1'),
    inZone('down-1', 'z1'),
    inZone('down-2', 'z2'),
    node('down-3'),
    node('down-4', { 'node.kubernetes.io/exclude-disruption': '' }),
  ];
  expect(Object.fromEntries(healthOfZones(nodes, (n) => n.metadata.name !== 'up'))).toEqual({
    'r:z1': { nodes: 2, down: 1 },
    'r:z2': { nodes: 1, down: 1 },
    ':': { nodes: 1, down: 1 },
  });
});

describe('EvictionLimiter', () => {
  it('gives each zone its turns, one every ten seconds at the default rate', () => {
    const limiter = new EvictionLimiter(limits, createMetrics());
    limiter.update(zones({ 'r:a': [10, 3], 'r:b': [10, 3] }));
    const turns = [0, 0, 9_999, 10_000, 10_001, 20_000].map((now) => limiter.mayEvict(inZone('n', 'a'), now));
    expect(turns).toEqual([true, false, false, true, false, true]);
    expect(limiter.mayEvict(inZone('n', 'b'), 1)).toBe(true);
    expect(limiter.mayEvict(inZone('n', 'unseen'), 1)).toBe(false);
  });

  it('C27 stops when all are down, and tells when some are back', () => {
    const limiter = new EvictionLimiter(limits, createMetrics());
    const states = [
      { 'r:a': [2, 1] },
      { 'r:a': [2, 2] },
      { 'r:a': [2, 2] },
      { 'r:a': [2, 1] },
      { 'r:a': [2, 0] },
    ] as const;
    const seen = states.map((state, i) => {
      const isBack = limiter.update(zones({ 'r:a': [...state['r:a']] }));
      return [limiter.allDown, isBack, limiter.mayEvict(inZone('n', 'a'), i * 10_000)];
    });
    expect(seen).toEqual([
      [false, false, true],
      [true, false, false],
      [true, false, false],
      [false, true, true],
      [false, false, true],
    ]);
  });

  it("tells of zones under upstream's metric names, also of one that is gone", async () => {
    const metrics = createMetrics();
    const limiter = new EvictionLimiter(limits, metrics);
    limiter.update(zones({ 'r:a': [4, 1], 'r:b': [1, 1] }));
    limiter.mayEvict(inZone('n', 'a'), 0);
    limiter.update(zones({ 'r:a': [4, 1] }));
    const text = await metrics.expose();
    expect(
      text
        .split('\n')
        .filter((line) => line.startsWith('node_collector_'))
        .sort(),
    ).toEqual([
      'node_collector_evictions_total{zone="r:a"} 1',
      'node_collector_unhealthy_nodes_in_zone{zone="r:a"} 1',
      'node_collector_unhealthy_nodes_in_zone{zone="r:b"} 0',
      'node_collector_zone_health{zone="r:a"} 75',
      'node_collector_zone_health{zone="r:b"} 100',
      'node_collector_zone_size{zone="r:a"} 4',
      'node_collector_zone_size{zone="r:b"} 0',
    ]);
  });
});

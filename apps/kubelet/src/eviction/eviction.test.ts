import type { Pod } from '@tinkernetes/api';
import { silentLogger, VirtualClock } from '@tinkernetes/component-base/testing';
import type { PodVerdict } from '../pods/pod-status';
import { EvictionManager, type PodConsumption } from './eviction-manager';
import { pressureRefusal } from './pressure-admission';
import { crossed, parseThreshold, type Observation, type Signal } from './thresholds';

const Mi = 1024 * 1024;

function pod(name: string, spec: Partial<Pod['spec']> = {}): Pod {
  return {
    metadata: { name, namespace: 'default', uid: name },
    spec: { containers: [{ name: 'main', image: 'busybox' }], ...spec },
  };
}

const requesting = (memory: string): Partial<Pod['spec']> => ({
  containers: [{ name: 'main', image: 'busybox', resources: { requests: { memory } } }],
});

const using = (memory: number, more: Partial<PodConsumption> = {}): PodConsumption => ({
  memory,
  processes: 1,
  containers: new Map([['main', { memory, disk: 0 }]]),
  volumes: new Map(),
  ...more,
});

class Node {
  readonly clock = new VirtualClock();
  readonly evicted: Array<{ name: string; verdict: PodVerdict }> = [];
  available = 1000 * Mi;
  changes = 0;
  readonly manager: EvictionManager;

  constructor(pods: ReadonlyArray<[Pod, PodConsumption]>, thresholds = ['memory.available<100Mi']) {
    this.manager = new EvictionManager({
      clock: this.clock,
      logger: silentLogger,
      thresholds: thresholds.map(parseThreshold),
      pressureTransitionMs: 300_000,
      observe: () =>
        Promise.resolve(
          new Map<Signal, Observation>([
            ['memory.available', { available: this.available, capacity: 2000 * Mi }],
          ]),
        ),
      activePods: () => pods.map(([p]) => p),
      consumption: () => Promise.resolve(new Map(pods.map(([p, used]) => [p.metadata.name, used]))),
      evict: ({ metadata }, verdict) => this.evicted.push({ name: metadata.name, verdict }),
      onPressure: () => undefined,
      onChange: () => this.changes++,
    });
  }
}

describe('EvictionManager', () => {
  const withinRequest: [Pod, PodConsumption] = [pod('within', requesting('500Mi')), using(400 * Mi)];
  const small: [Pod, PodConsumption] = [pod('small'), using(10 * Mi)];
  const big: [Pod, PodConsumption] = [pod('big'), using(50 * Mi)];
  const important: [Pod, PodConsumption] = [pod('important', { priority: 1000 }), using(90 * Mi)];
  const critical: [Pod, PodConsumption] = [pod('critical', { priority: 2_000_001_000 }), using(900 * Mi)];

  it('leaves a node alone that has enough', async () => {
    const node = new Node([big]);
    await node.manager.check();
    expect(node.evicted).toEqual([]);
    expect(node.manager.conditions.size).toBe(0);
  });

  it('evicts one at a time: over request first, then low priority, then large excess; never critical ones', async () => {
    const node = new Node([critical, withinRequest, small, important, big]);
    node.available = 50 * Mi;
    for (let i = 0; i < 6; i++) await node.manager.check();
    expect(node.evicted.map((e) => e.name)).toEqual(['big', 'small', 'important', 'within']);
  });

  it('says what ran out and which container uses more than it asked for', async () => {
    const node = new Node([big]);
    node.available = 50 * Mi;
    await node.manager.check();
    const message =
      'The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. ' +
      'Container main was using 50Mi, request is 0, has larger consumption of memory. ';
    expect(node.evicted[0]?.verdict).toEqual({
      reason: 'Evicted',
      message,
      conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', message }],
    });
  });

  it('keeps the condition for the transition period after the pressure has gone', async () => {
    const node = new Node([]);
    node.available = 50 * Mi;
    await node.manager.check();
    node.available = 1000 * Mi;
    await node.clock.advance(299_000);
    await node.manager.check();
    expect([...node.manager.conditions]).toEqual(['MemoryPressure']);
    await node.clock.advance(1000);
    await node.manager.check();
    expect(node.manager.conditions.size).toBe(0);
    expect(node.changes).toBe(2);
  });

  it.each<[string, Partial<Pod['spec']>, Partial<PodConsumption>, string]>([
    [
      'an emptyDir',
      { volumes: [{ name: 'scratch', emptyDir: { sizeLimit: '1Mi' } }] },
      { volumes: new Map([['scratch', 2 * Mi]]) },
      'Usage of EmptyDir volume "scratch" exceeds the limit "1Mi". ',
    ],
    [
      'the Pod',
      { containers: [{ name: 'main', image: 'i', resources: { limits: { 'ephemeral-storage': '3Mi' } } }] },
      {
        containers: new Map([['main', { memory: 0, disk: 2 * Mi }]]),
        volumes: new Map([['scratch', 2 * Mi]]),
      },
      'Pod ephemeral local storage usage exceeds the total limit of containers 3Mi. ',
    ],
  ])('evicts a Pod at once when %s outgrows its limit, pressure or not', async (_, spec, used, message) => {
    const node = new Node([
      [pod('greedy', spec), using(0, used)],
      [pod('modest', spec), using(0)],
    ]);
    await node.manager.check();
    expect(node.evicted).toEqual([{ name: 'greedy', verdict: { reason: 'Evicted', message } }]);
  });
});

describe('thresholds', () => {
  it.each([
    ['nodefs.available<10%', 9, true],
    ['nodefs.available<10%', 10, false],
    ['nodefs.available<0%', 0, false],
    ['nodefs.available<20', 19, true],
  ])('%s with %d of 100 available', (statement, available, expected) => {
    const observed = new Map<Signal, Observation>([['nodefs.available', { available, capacity: 100 }]]);
    expect(crossed([parseThreshold(statement)], observed)).toHaveLength(expected ? 1 : 0);
  });

  it.each(['cpu.available<1', 'memory.available', 'memory.available<much', 'nodefs.available<110%'])(
    'refuses %s',
    (statement) => expect(() => parseThreshold(statement)).toThrow('--eviction-hard'),
  );
});

describe('pressureRefusal', () => {
  const tolerations = [{ key: 'node.kubernetes.io/memory-pressure', operator: 'Exists' as const }];
  it.each<[string, Pod, Parameters<typeof pressureRefusal>[1], string | undefined]>([
    ['nothing without pressure', pod('p'), [], undefined],
    [
      'BestEffort under memory pressure',
      pod('p'),
      ['MemoryPressure'],
      'The node had condition: [MemoryPressure]. ',
    ],
    ['no Burstable under memory pressure', pod('p', requesting('1Mi')), ['MemoryPressure'], undefined],
    ['no BestEffort that tolerates it', pod('p', { tolerations }), ['MemoryPressure'], undefined],
    [
      'all under disk pressure',
      pod('p', requesting('1Mi')),
      ['DiskPressure'],
      'The node had condition: [DiskPressure]. ',
    ],
  ])('refuses %s', (_, candidate, conditions, message) => {
    expect(pressureRefusal(candidate, conditions)?.message).toBe(message);
  });
});

import type { Pod } from '@tinkernetes/api';
import { silentLogger, VirtualClock } from '@tinkernetes/component-base/testing';
import type { PodVerdict } from '../pods/pod-status';
import { EvictionManager, type PodConsumption } from './eviction-manager';
import { pressureRefusal } from './pressure-admission';
import { isCrossed, parseThresholds, type Observation, type Signal, type ThresholdFlags } from './thresholds';

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
  readonly evicted: Array<{ name: string; verdict: PodVerdict; grace: number }> = [];
  available = 1000 * Mi;
  disk = 1000 * Mi;
  /** Of the disk, what nobody uses. */
  reclaimable = 0;
  changes = 0;
  knowsAllPods = true;
  readonly manager: EvictionManager;

  constructor(
    pods: ReadonlyArray<[Pod, PodConsumption]>,
    thresholds: ThresholdFlags = { hard: ['memory.available<100Mi'] },
  ) {
    this.manager = new EvictionManager({
      clock: this.clock,
      logger: silentLogger,
      thresholds: parseThresholds(thresholds),
      maxPodGraceSeconds: 20,
      pressureTransitionMs: 300_000,
      observe: () =>
        Promise.resolve(
          new Map<Signal, Observation>([
            ['memory.available', { available: this.available, capacity: 2000 * Mi }],
            ['imagefs.available', { available: this.disk, capacity: 2000 * Mi }],
          ]),
        ),
      knowsAllPods: () => this.knowsAllPods,
      activePods: () => pods.map(([p]) => p),
      consumption: () => Promise.resolve(new Map(pods.map(([p, used]) => [p.metadata.name, used]))),
      reclaimDisk: () => {
        this.disk += this.reclaimable;
        this.reclaimable = 0;
        return Promise.resolve();
      },
      evict: ({ metadata }, verdict, grace) => this.evicted.push({ name: metadata.name, verdict, grace }),
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

  it('evicts nobody before it knows all Pods, but has the condition', async () => {
    const node = new Node([small]);
    node.available = 50 * Mi;
    node.knowsAllPods = false;
    await node.manager.check();
    expect(node.evicted).toEqual([]);
    expect([...node.manager.conditions]).toEqual(['MemoryPressure']);
    node.knowsAllPods = true;
    await node.manager.check();
    expect(node.evicted).toHaveLength(1);
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
    expect(node.evicted).toEqual([{ name: 'greedy', verdict: { reason: 'Evicted', message }, grace: 1 }]);
  });

  it('waits for a soft threshold’s grace period, has the condition at once, and lets the Pod end in peace', async () => {
    const soft = ['memory.available<500Mi'];
    const gracePeriods = ['memory.available=1m'];
    const node = new Node([big, critical], { hard: ['memory.available<100Mi'], soft, gracePeriods });
    node.available = 400 * Mi;
    await node.manager.check();
    expect([...node.manager.conditions]).toEqual(['MemoryPressure']);
    await node.clock.advance(59_000);
    await node.manager.check();
    expect(node.evicted).toEqual([]);
    await node.clock.advance(1000);
    await node.manager.check();
    expect(node.evicted).toMatchObject([{ name: 'big', grace: 20 }]);
    expect(node.evicted[0]?.verdict.message).toContain('Threshold quantity: 500Mi, available: 400Mi. ');
  });

  it('starts a grace period anew when the threshold was not crossed in between', async () => {
    const soft = ['memory.available<500Mi'];
    const node = new Node([big], { hard: [], soft, gracePeriods: ['memory.available=1m'] });
    for (const [available, seconds] of [
      [400, 40],
      [600, 10],
      [400, 50],
    ] as const) {
      node.available = available * Mi;
      await node.manager.check();
      await node.clock.advance(seconds * 1000);
    }
    await node.manager.check();
    expect(node.evicted).toEqual([]);
  });

  it('goes on evicting until the minimum has been reclaimed, too', async () => {
    const minimumReclaim = ['memory.available=200Mi'];
    const node = new Node([big, small], { hard: ['memory.available<100Mi'], minimumReclaim });
    node.available = 250 * Mi;
    await node.manager.check();
    expect(node.evicted).toEqual([]);
    node.available = 50 * Mi;
    await node.manager.check();
    node.available = 250 * Mi;
    await node.manager.check();
    expect(node.evicted.map((e) => e.name)).toEqual(['big', 'small']);
  });

  it('deletes what nobody uses before it evicts for want of disk', async () => {
    const node = new Node([big], { hard: ['imagefs.available<500Mi'] });
    node.disk = 400 * Mi;
    node.reclaimable = 200 * Mi;
    await node.manager.check();
    expect(node.evicted).toEqual([]);
    node.disk = 100 * Mi;
    await node.manager.check();
    expect(node.evicted[0]?.verdict.message).toContain('low on resource: ephemeral-storage');
    expect([...node.manager.conditions]).toEqual(['DiskPressure']);
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
    const [threshold] = parseThresholds({ hard: [statement] });
    expect(threshold && isCrossed(threshold, observed, { withReclaim: false })).toBe(expected);
  });

  it.each(['cpu.available<1', 'memory.available', 'memory.available<much', 'nodefs.available<110%'])(
    'refuses %s',
    (statement) => expect(() => parseThresholds({ hard: [statement] })).toThrow('--eviction-hard'),
  );

  it.each<[string, ThresholdFlags, string]>([
    [
      'a soft threshold without a grace period',
      { hard: [], soft: ['memory.available<1Gi'] },
      'grace period must be specified for the soft eviction threshold memory.available',
    ],
    [
      'a grace period that is none',
      { hard: [], soft: ['memory.available<1Gi'], gracePeriods: ['memory.available=soon'] },
      'needs a duration, not "soon"',
    ],
    [
      'a minimum for a signal that there is not',
      { hard: [], minimumReclaim: ['cpu.available=1'] },
      '--eviction-minimum-reclaim: unsupported eviction signal "cpu.available"',
    ],
  ])('refuses %s', (_, flags, message) => expect(() => parseThresholds(flags)).toThrow(message));
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

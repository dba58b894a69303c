import type { Pod } from '@tinkernetes/api';
import type { PodSamples } from './pod-groups';
import {
  averageReplicas,
  sharedValueReplicas,
  utilizationReplicas,
  valueReplicas,
} from './replica-calculator';

const now = Date.parse('2026-01-01T01:00:00Z');
const minute = 60_000;
const time = (ms: number) => new Date(ms).toISOString();
const rules = { now, cpuInitializationMs: 2 * minute, initialReadinessDelayMs: 10_000 };
const tolerances = { up: 0.1, down: 0.1 };

interface PodShape {
  request?: string;
  phase?: NonNullable<Pod['status']>['phase'];
  ready?: boolean;
  /** Before now. */
  startedMs?: number;
  changedMs?: number;
  deleted?: boolean;
}

const podsOf = (...shapes: PodShape[]): Pod[] =>
  shapes.map(
    (
      {
        request = '1',
        phase = 'Running',
        ready = true,
        startedMs = 60 * minute,
        changedMs = 59 * minute,
        deleted,
      },
      i,
    ) => ({
      metadata: { name: `p${i}`, ...(deleted ? { deletionTimestamp: time(now) } : {}) },
      spec: { containers: [{ name: 'main', resources: { requests: { cpu: request } } }] },
      status: {
        phase,
        startTime: time(now - startedMs),
        conditions: [
          { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: time(now - changedMs) },
        ],
      },
    }),
  );
const samplesOf = (...values: (number | undefined)[]): PodSamples =>
  new Map(
    values.flatMap((value, i) =>
      value === undefined ? [] : [[`p${i}`, { value, timestamp: now, windowMs: minute }]],
    ),
  );
const three = [{}, {}, {}];

describe('utilizationReplicas', () => {
  const propose = (
    shapes: PodShape[],
    values: (number | undefined)[],
    { percent = 30, currentReplicas = shapes.length } = {},
  ) =>
    utilizationReplicas({
      pods: podsOf(...shapes),
      samples: samplesOf(...values),
      currentReplicas,
      tolerances,
      rules,
      resource: 'cpu',
      percent,
    });

  it.each<[rule: string, ...Parameters<typeof propose>, replicas: number]>([
    ['scales up by the ratio', three, [300, 500, 700], { percent: 30 }, 5],
    ['scales down by the ratio', [{}, {}, {}, {}, {}], [100, 300, 500, 250, 250], { percent: 50 }, 3],
    [
      'stays within the tolerance',
      [{ request: '0.9' }, {}, { request: '1.1' }],
      [1010, 1030, 1020],
      { percent: 100 },
      3,
    ],
    [
      'counts an unready Pod as idle on the way up',
      [{}, {}, { ready: false, startedMs: minute }],
      [500, 700, 300],
      { percent: 30 },
      4,
    ],
    [
      'stays when unready Pods would turn the direction',
      [{}, { ready: false, startedMs: minute }, { ready: false, startedMs: minute }],
      [400, 500, 700],
      { percent: 30 },
      3,
    ],
    [
      'ignores unready Pods on the way down',
      [{}, {}, {}, { ready: false, startedMs: minute }],
      [100, 100, 100, 900],
      { percent: 50 },
      1,
    ],
    [
      'ignores the sample that is older than a window after becoming ready',
      [{}, {}, { startedMs: minute, changedMs: 30_000 }],
      [300, 300, 9000],
      { percent: 30 },
      3,
    ],
    [
      'counts a Pod that turned unready long after its start',
      [{}, { ready: false, startedMs: 60 * minute, changedMs: minute }],
      [600, 600],
      { percent: 30 },
      4,
    ],
    [
      'ignores a Pod that has never been ready',
      [{}, { ready: false, startedMs: 60 * minute, changedMs: 60 * minute - 5000 }],
      [600, 9000],
      { percent: 30 },
      2,
    ],
    [
      'counts a pending Pod as idle on the way up',
      [{}, {}, { phase: 'Pending' }],
      [600, 600],
      { percent: 30 },
      4,
    ],
    [
      'leaves out Pods that are going or gone',
      [{}, {}, { deleted: true }, { phase: 'Failed' }],
      [600, 600, 9000, 9000],
      { percent: 30 },
      4,
    ],
    ['takes a Pod without sample as idle on the way up', three, [1000, 1000], { percent: 50 }, 4],
    [
      'takes a Pod without sample as using its request on the way down',
      [{}, {}, {}, {}],
      [200, 200, 200],
      { percent: 50 },
      4,
    ],
    [
      'takes a Pod without sample as using the target where that is more',
      [{}, {}, {}, {}],
      [100, 100, 100],
      { percent: 200 },
      2,
    ],
    [
      'never scales up because of a Pod without sample on the way down',
      three,
      [400, undefined, undefined],
      { percent: 50 },
      3,
    ],
  ])('%s', (_rule, shapes, values, options, replicas) => {
    expect(propose(shapes, values, options).replicas).toBe(replicas);
  });

  it('shows the utilization in percent and the average in thousandths', () => {
    expect(propose(three, [300, 500, 701])).toMatchObject({ utilization: 50, value: 500 });
  });

  it('looks at one container where it is told to, sidecars included', () => {
    const pods = podsOf({}).map((pod) => ({
      ...pod,
      spec: {
        ...pod.spec,
        initContainers: [
          { name: 'proxy', restartPolicy: 'Always', resources: { requests: { cpu: '100m' } } },
          { name: 'once', resources: {} },
        ],
      },
    }));
    const base = { pods, currentReplicas: 1, tolerances, rules, resource: 'cpu', percent: 50 };
    const samples = samplesOf(100);
    expect(utilizationReplicas({ ...base, samples, container: 'proxy' }).replicas).toBe(2);
    expect(utilizationReplicas({ ...base, samples: samplesOf(1100) }).replicas).toBe(2);
    expect(() => utilizationReplicas({ ...base, samples, container: 'none' })).toThrow(
      'container none not found in Pod p0',
    );
  });

  it('takes requests that the Pod has as a whole', () => {
    const pods = podsOf({}).map((pod) => ({
      ...pod,
      spec: { ...pod.spec, resources: { requests: { cpu: '200m' } } },
    }));
    const base = { pods, samples: samplesOf(200), currentReplicas: 1, tolerances, rules, percent: 50 };
    expect(utilizationReplicas({ ...base, resource: 'cpu' }).replicas).toBe(2);
    expect(() => utilizationReplicas({ ...base, resource: 'memory' })).toThrow(
      'missing pod-level request for memory in Pod p0',
    );
  });

  it.each<[message: string, () => unknown]>([
    ['no pods returned by selector while calculating replica count', () => propose([], [])],
    [
      'did not receive metrics for targeted pods (pods might be unready)',
      () => propose([{ ready: false, startedMs: minute }], [100]),
    ],
    [
      'missing request for cpu in container main of Pod p0',
      () =>
        utilizationReplicas({
          pods: podsOf({}).map((pod) => ({ ...pod, spec: { containers: [{ name: 'main' }] } })),
          samples: samplesOf(1),
          currentReplicas: 1,
          tolerances,
          rules,
          resource: 'cpu',
          percent: 1,
        }),
    ],
  ])('fails: %s', (message, run) => {
    expect(run).toThrow(message);
  });

  it('has a tolerance for each direction', () => {
    const propose2 = (value: number) =>
      utilizationReplicas({
        pods: podsOf({}, {}),
        samples: samplesOf(value, value),
        currentReplicas: 2,
        tolerances: { up: 0, down: 0.5 },
        rules,
        resource: 'cpu',
        percent: 50,
      }).replicas;
    expect([510, 500, 260, 240].map(propose2)).toEqual([3, 2, 2, 1]);
  });
});

describe('averageReplicas', () => {
  const propose = (values: (number | undefined)[], average: number, shapes: PodShape[] = three) =>
    averageReplicas({
      pods: podsOf(...shapes),
      samples: samplesOf(...values),
      currentReplicas: shapes.length,
      tolerances,
      rules,
      average,
    });

  it.each<[rule: string, ...Parameters<typeof propose>, replicas: number]>([
    ['scales up', [20_000, 10_000, 30_000], 15_000, three, 4],
    ['scales down', [12_000, 12_000, 12_000, 12_000, 12_000], 20_000, [{}, {}, {}, {}, {}], 3],
    [
      'counts Pods that are not ready: load is load',
      [20_000, 10_000, 30_000],
      15_000,
      [{}, {}, { ready: false, startedMs: minute }],
      4,
    ],
    ['takes Pods without sample as at the target on the way down', [10_000, 10_000], 20_000, three, 2],
    ['takes Pods without sample as idle on the way up', [40_000, 40_000], 20_000, three, 4],
  ])('%s', (_rule, values, average, shapes, replicas) => {
    expect(propose(values, average, shapes).replicas).toBe(replicas);
  });
});

describe('valueReplicas', () => {
  it.each([
    [20_000, 15_000, 3, 4],
    [16_000, 15_000, 3, 3],
    [5_000, 15_000, 3, 1],
    [20_000, 15_000, 0, 2],
    [0, 15_000, 0, 0],
  ])('of %i for a target of %i, with %i replicas: %i', (value, target, currentReplicas, replicas) => {
    const pods = podsOf(...Array.from({ length: currentReplicas }, () => ({})));
    expect(valueReplicas({ value, target, pods, currentReplicas, tolerances }).replicas).toBe(replicas);
  });
});

describe('sharedValueReplicas', () => {
  it.each([
    [40_000, 10_000, 3, 4, 13_334],
    [31_000, 10_000, 3, 3, 10_334],
    [8_000, 10_000, 3, 1, 2_667],
    [8_000, 10_000, 0, 1, 0],
  ])('of %i with %i each, among %i: %i', (value, average, statusReplicas, replicas, each) => {
    expect(sharedValueReplicas({ value, average, statusReplicas, tolerances })).toEqual({
      replicas,
      value: each,
    });
  });
});

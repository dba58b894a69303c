import type {
  DeviceTaint,
  DeviceToleration,
  Pod,
  ResourceSlice,
  ResourceV1ResourceClaim as ResourceClaim,
} from '@tinkernetes/api';
import { evictingTaints } from './device-taints';
import { podEvictionTime } from './eviction-time';

const timeAdded = '2026-01-01T00:00:00Z';
const added = Date.parse(timeAdded);
const taint = (key: string, change: Partial<DeviceTaint> = {}): DeviceTaint => ({
  key,
  value: 'yes',
  effect: 'NoExecute',
  timeAdded,
  ...change,
});
const tolerate = (key: string, tolerationSeconds?: number): DeviceToleration => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds,
});
const pod = (change: Partial<Pod['spec']> = {}): Pod => ({
  metadata: { name: 'p', namespace: 'default', uid: 'pod' },
  spec: {
    containers: [],
    nodeName: 'n',
    resourceClaims: [{ name: 'gpu', resourceClaimName: 'claim' }],
    ...change,
  },
});
const claim = (tolerations: DeviceToleration[] = [], change: Partial<ResourceClaim> = {}): ResourceClaim => ({
  metadata: { name: 'claim' },
  spec: {},
  status: {
    reservedFor: [{ resource: 'pods', name: 'p', uid: 'pod' }],
    allocation: {
      devices: { results: [{ request: 'gpu', driver: 'd', pool: 'p', device: 'x', tolerations }] },
    },
  },
  ...change,
});

describe('podEvictionTime', () => {
  it.each([
    ['never without a taint', claim(), [], undefined],
    ['when the taint came, without a toleration', claim(), [taint('hot')], added],
    ['never with a toleration without end', claim([tolerate('hot')]), [taint('hot')], undefined],
    ['after the toleration', claim([tolerate('hot', 300)]), [taint('hot')], added + 300_000],
    [
      'after the shorter of two that fit',
      claim([tolerate('hot', 300), tolerate('', 60)]),
      [taint('hot')],
      added + 60_000,
    ],
    ['at once when it is negative', claim([tolerate('hot', -5)]), [taint('hot')], added],
    [
      'by the taint that is not tolerated',
      claim([tolerate('hot', 300)]),
      [taint('hot'), taint('dim')],
      added,
    ],
    [
      'by the earliest taint',
      claim(),
      [taint('hot'), taint('dim', { timeAdded: '2025-12-31T23:59:00Z' })],
      added - 60_000,
    ],
    [
      'regardless of a toleration for NoSchedule',
      claim([{ ...tolerate('hot'), effect: 'NoSchedule' }]),
      [taint('hot')],
      added,
    ],
    [
      'regardless of a toleration for another value',
      claim([{ key: 'hot', value: 'no', effect: 'NoExecute' }]),
      [taint('hot')],
      added,
    ],
    [
      'never with the same value',
      claim([{ key: 'hot', value: 'yes', effect: 'NoExecute' }]),
      [taint('hot')],
      undefined,
    ],
    ['never by a claim that has no device', claim([], { status: {} }), [taint('hot')], undefined],
    [
      'never by a claim that is reserved for another Pod of that name',
      claim([], {
        status: { ...claim().status, reservedFor: [{ resource: 'pods', name: 'p', uid: 'other' }] },
      }),
      [taint('hot')],
      undefined,
    ],
  ])('%s', (_, given, taints, expected) => {
    const devices = { claimNamed: () => given, taintsOf: () => taints };
    expect(podEvictionTime(pod(), devices)).toBe(expected);
  });

  it.each([
    ['a Pod without a node', pod({ nodeName: undefined })],
    ['a Pod without claims', pod({ resourceClaims: undefined })],
    [
      'a claim that was made for another Pod',
      {
        ...pod({ resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 't' }] }),
        status: { resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'claim' }] },
      },
    ],
  ])('is never for %s', (_, given) => {
    const devices = { claimNamed: () => claim(), taintsOf: () => [taint('hot')] };
    expect(podEvictionTime(given, devices)).toBeUndefined();
  });
});

describe('evictingTaints', () => {
  const slice = (generation: number, name: string, ...taints: DeviceTaint[]): ResourceSlice => ({
    metadata: { name: `s-${generation}-${name}` },
    spec: {
      driver: 'd',
      pool: { name: 'p', generation, resourceSliceCount: 1 },
      devices: [{ name, taints }],
    },
  });
  it.each([
    ['of the device', [slice(1, 'x', taint('hot')), slice(1, 'y', taint('dim'))], ['hot']],
    ['with effect NoExecute', [slice(1, 'x', taint('hot', { effect: 'NoSchedule' }), taint('dim'))], ['dim']],
    ['of the newest generation', [slice(1, 'x', taint('hot')), slice(2, 'x', taint('dim'))], ['dim']],
    ['of none where no slice is left', [], []],
  ])('are those %s', (_, slices, expected) => {
    expect(evictingTaints(slices, 'x').map(({ key }) => key)).toEqual(expected);
  });
});

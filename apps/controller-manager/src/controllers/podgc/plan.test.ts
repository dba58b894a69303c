import type { Node, Pod } from '@tinkernetes/api';
import {
  lastStatusOf,
  lostNodesOf,
  missingNodesOf,
  missingSinceWhen,
  orphansOf,
  stuckOf,
  surplusOf,
  type Reason,
} from './plan';

const pod = (
  name: string,
  extra: { phase?: string; node?: string; going?: boolean; created?: string } = {},
): Pod =>
  ({
    metadata: {
      name,
      creationTimestamp: extra.created ?? '2026-01-01T00:00:00Z',
      ...(extra.going ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    spec: { containers: [], nodeName: extra.node },
    status: { phase: extra.phase ?? 'Running' },
  }) as Pod;
const node = (ready: string, ...taints: string[]): Node => ({
  metadata: { name: 'n' },
  spec: { taints: taints.map((key) => ({ key, effect: 'NoExecute' as const })) },
  status: { conditions: [{ type: 'Ready', status: ready as 'True' }] },
});
const names = (removals: readonly { pod: Pod; reason: string }[]) =>
  removals.map(({ pod: { metadata }, reason }) => `${metadata.name} ${reason}`);

describe('surplusOf', () => {
  const ended = ['c', 'a', 'b'].map((name, i) =>
    pod(name, { phase: i === 0 ? 'Failed' : 'Succeeded', created: `2026-01-0${i + 1}T00:00:00Z` }),
  );
  it.each([
    [0, []],
    [3, []],
    [2, ['c terminated']],
    [1, ['c terminated', 'a terminated']],
  ])('leaves %i finished Pods', (threshold, expected) =>
    expect(names(surplusOf([...ended, pod('runs')], threshold))).toEqual(expected),
  );

  // As upstream's TestGCTerminated has it.
  it('counts evicted Pods as the first to go, however young', () => {
    const evicted = pod('e', { phase: 'Failed', created: '2026-02-01T00:00:00Z' });
    const given = [...ended, { ...evicted, status: { ...evicted.status, reason: 'Evicted' } }];
    expect(names(surplusOf(given, 2))).toEqual(['e terminated', 'c terminated']);
  });
});

describe('stuckOf', () => {
  it.each<[string, Pod, Node | undefined, string[]]>([
    ['a Pod that was never scheduled', pod('p', { going: true }), undefined, ['p unscheduled']],
    ['one that is not being deleted', pod('p'), undefined, []],
    ['one on a node that works', pod('p', { going: true, node: 'n' }), node('True'), []],
    ['one on a silent node', pod('p', { going: true, node: 'n' }), node('Unknown'), []],
    [
      'one on a node out of service',
      pod('p', { going: true, node: 'n' }),
      node('Unknown', 'node.kubernetes.io/out-of-service'),
      ['p out-of-service'],
    ],
    [
      'one on a node that works, whatever its taint says',
      pod('p', { going: true, node: 'n' }),
      node('True', 'node.kubernetes.io/out-of-service'),
      [],
    ],
  ])('%s', (_, given, on, expected) => expect(names(stuckOf([given], () => on))).toEqual(expected));
});

it('missingNodesOf names each node once', () => {
  const pods = [pod('a', { node: 'gone' }), pod('b', { node: 'gone' }), pod('c', { node: 'n' }), pod('d')];
  expect([...missingNodesOf(pods, (name) => (name === 'n' ? node('True') : undefined))]).toEqual(['gone']);
});

describe('Pods of a node that is gone', () => {
  type Look = readonly [ms: number, ...missing: string[]];
  const looks = (looked: readonly Look[]) => {
    let since: ReadonlyMap<string, number> = new Map();
    return looked.map(([ms, ...missing]) => {
      since = missingSinceWhen(since, new Set(missing), ms);
      return lostNodesOf(since, ms);
    });
  };
  // As upstream's TestGCOrphaned has them.
  it.each<[string, Look[], string[][]]>([
    ['not at first sight', [[0, 'n']], [[]]],
    [
      'not within the quarantine',
      [
        [0, 'n'],
        [39_999, 'n'],
      ],
      [[], []],
    ],
    [
      'after the quarantine',
      [
        [0, 'n'],
        [40_000, 'n'],
      ],
      [[], ['n']],
    ],
    [
      'each by its own quarantine',
      [
        [0, 'n'],
        [20_000, 'n', 'm'],
        [40_000, 'n', 'm'],
      ],
      [[], [], ['n']],
    ],
    [
      'not when it came back in between',
      [[0, 'n'], [20_000], [40_000, 'n'], [79_999, 'n']],
      [[], [], [], []],
    ],
  ])('are lost %s', (_, looked, expected) => {
    expect(looks(looked)).toEqual(expected);
  });

  it('are all that were bound to it, ended ones too', () => {
    const pods = [pod('a', { node: 'gone' }), pod('b', { node: 'gone', phase: 'Succeeded' }), pod('c')];
    expect(names(orphansOf(pods, 'gone'))).toEqual(['a orphaned', 'b orphaned']);
  });
});

describe('lastStatusOf', () => {
  const now = Date.parse('2026-01-02T00:00:00Z');
  const disrupted = (status: 'True' | 'False', given = pod('p')): Pod => ({
    ...given,
    status: {
      ...given.status,
      conditions: [{ type: 'DisruptionTarget', status, lastTransitionTime: '2026-01-01T00:00:00Z' }],
    },
  });
  const condition = (lastTransitionTime: string) => ({
    ...{ type: 'DisruptionTarget', status: 'True', reason: 'DeletionByPodGC' },
    message: 'PodGC: node no longer exists',
    lastTransitionTime,
  });
  it.each<[string, Pod, Reason, ReturnType<typeof lastStatusOf>]>([
    ['a Pod that ended as it is', pod('p', { phase: 'Succeeded' }), 'orphaned', undefined],
    [
      'one that was never scheduled failed',
      pod('p', { phase: 'Pending' }),
      'unscheduled',
      { phase: 'Failed' },
    ],
    ['one of a node out of service failed', pod('p'), 'out-of-service', { phase: 'Failed' }],
    [
      'an orphan failed and disrupted',
      pod('p'),
      'orphaned',
      { phase: 'Failed', conditions: [condition('2026-01-02T00:00:00Z')] },
    ],
    [
      'an orphan that was disrupted before disrupted since then',
      disrupted('True'),
      'orphaned',
      { phase: 'Failed', conditions: [condition('2026-01-01T00:00:00Z')] },
    ],
    [
      'an orphan whose disruption did not come disrupted now',
      disrupted('False'),
      'orphaned',
      { phase: 'Failed', conditions: [condition('2026-01-02T00:00:00Z')] },
    ],
  ])('leaves %s', (_, given, reason, expected) => {
    expect(lastStatusOf({ pod: given, reason }, now)).toEqual(expected);
  });
});

import type { Node, Pod } from '@tinkernetes/api';
import { missingNodesOf, stuckOf, surplusOf } from './plan';

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

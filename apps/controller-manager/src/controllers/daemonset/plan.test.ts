import type { DaemonSet, Node, Pod } from '@tinkernetes/api';
import { VirtualClock } from '@tinkernetes/component-base/testing';
import { FailedPodsBackOff } from './failed-pods-back-off';
import { planPlacement, planRollingUpdate } from './plan';

const setOf = (rollingUpdate: object = {}, spec: Partial<DaemonSet['spec']> = {}): DaemonSet => ({
  metadata: { name: 'agent' },
  spec: {
    selector: {},
    template: { spec: { containers: [] } },
    updateStrategy: { type: 'RollingUpdate', rollingUpdate },
    ...spec,
  },
});
const surging = setOf({ maxSurge: 1, maxUnavailable: 0 });
const tainted = (effect: string): Partial<Node['spec']> => ({ taints: [{ key: 'k', effect } as never] });
const nodeOf = (name: string, spec: Node['spec'] = {}): Node => ({ metadata: { name }, spec });
const three = ['a', 'b', 'c'].map((name) => nodeOf(name));

interface Shape {
  hash?: string;
  ready?: boolean;
  phase?: 'Running' | 'Failed' | 'Succeeded';
  deleting?: boolean;
}
/** `a1`: the first Pod on node a. */
const podOf = (
  name: string,
  { hash = 'new', ready = true, phase = 'Running', deleting }: Shape = {},
): Pod => ({
  metadata: {
    name,
    labels: { 'controller-revision-hash': hash },
    creationTimestamp: `2026-01-01T00:00:0${name.slice(1)}Z`,
    ...(deleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
  },
  spec: { containers: [], nodeName: name.slice(0, 1) },
  status: { phase, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
});
const old: Shape = { hash: 'old' };
const brokenOld: Shape = { hash: 'old', ready: false };
const names = (pods: readonly Pod[]) => pods.map((pod) => pod.metadata.name);
const input = (set: DaemonSet, pods: Pod[], nodes = three) => ({ set, nodes, pods, hash: 'new', now: 0 });

it.each<[string, DaemonSet, Node[], Pod[], { create?: string[]; delete?: string[]; finished?: string[] }]>([
  ['makes a Pod on each node', setOf(), three, [podOf('b1')], { create: ['a', 'c'] }],
  ['waits for one that is going', setOf(), [nodeOf('a')], [podOf('a1', { deleting: true })], {}],
  [
    'waits for none that has ended and is going',
    setOf(),
    [nodeOf('a')],
    [podOf('a1', { deleting: true, phase: 'Failed' })],
    { create: ['a'] },
  ],
  ['keeps the oldest of several', setOf(), [nodeOf('a')], [podOf('a2'), podOf('a1')], { delete: ['a2'] }],
  [
    'replaces what has ended',
    setOf(),
    [nodeOf('a')],
    [podOf('a1', { phase: 'Succeeded' })],
    { finished: ['a1'] },
  ],
  [
    'makes none where a taint keeps it away, and leaves one that is there',
    setOf(),
    [nodeOf('a', tainted('NoSchedule')), nodeOf('b', tainted('NoSchedule'))],
    [podOf('b1')],
    {},
  ],
  [
    'removes it where a taint drives it away',
    setOf(),
    [nodeOf('a', tainted('NoExecute'))],
    [podOf('a1')],
    { delete: ['a1'] },
  ],
  [
    'makes the next while the last is going, with surge',
    surging,
    [nodeOf('a')],
    [podOf('a1', { deleting: true })],
    { create: ['a'] },
  ],
  [
    'leaves an old and a new one until the new one is available, with surge',
    surging,
    [nodeOf('a'), nodeOf('b')],
    [podOf('a1', old), podOf('a2', { ready: false }), podOf('b1', old), podOf('b2')],
    { delete: ['b1'] },
  ],
  [
    'removes the old one that serves nobody, with surge',
    surging,
    [nodeOf('a')],
    [podOf('a1', brokenOld), podOf('a2', { ready: false })],
    { delete: ['a1'] },
  ],
])('the placement %s', (_, set, nodes, pods, expected) => {
  const plan = planPlacement(input(set, pods, nodes));
  expect({ create: plan.create, delete: names(plan.delete), finished: names(plan.finished) }).toEqual({
    create: [],
    delete: [],
    finished: [],
    ...expected,
  });
});

const all = (shape: Shape) => [podOf('a1', shape), podOf('b1', shape), podOf('c1', shape)];
it.each<[string, DaemonSet, Pod[], { create?: string[]; delete?: string[] }, Node[]?]>([
  ['takes one at a time', setOf({ maxUnavailable: 1 }), all(old), { delete: ['a1'] }],
  [
    'takes as many as a percentage, rounded up',
    setOf({ maxUnavailable: '34%' }),
    all(old),
    { delete: ['a1', 'b1'] },
  ],
  [
    'takes one where both numbers come to nothing',
    setOf({ maxUnavailable: 0, maxSurge: 0 }),
    all(old),
    { delete: ['a1'] },
  ],
  [
    'waits for a new one that is not available',
    setOf({ maxUnavailable: 1 }),
    [podOf('a2', { ready: false }), podOf('b1', old), podOf('c1', old)],
    {},
  ],
  [
    'takes all that serve nobody',
    setOf({ maxUnavailable: 1 }),
    all(brokenOld),
    { delete: ['a1', 'b1', 'c1'] },
  ],
  [
    'takes an old one from a node that it may stay on but not come to',
    setOf({ maxUnavailable: 1 }),
    [podOf('a1', old)],
    { delete: ['a1'] },
    [nodeOf('a', tainted('NoSchedule'))],
  ],
  ['makes one more, with surge', surging, all(old), { create: ['a'] }],
  ['waits for the one more, with surge', surging, [...all(old), podOf('a2', { ready: false })], {}],
  [
    'makes one beside each that serves nobody, with surge',
    surging,
    all(brokenOld),
    { create: ['a', 'b', 'c'] },
  ],
  [
    'leaves a node only when enough serve elsewhere, with surge',
    surging,
    [podOf('a1', old), podOf('b2'), podOf('c1', { ready: false })],
    {},
    [nodeOf('a', tainted('NoSchedule')), nodeOf('b'), nodeOf('c')],
  ],
  [
    'leaves it then, with surge',
    surging,
    [podOf('a1', old), podOf('b2'), podOf('c1')],
    { delete: ['a1'] },
    [nodeOf('a', tainted('NoSchedule')), nodeOf('b'), nodeOf('c')],
  ],
])('a rolling update %s', (_, set, pods, expected, nodes = three) => {
  const plan = planRollingUpdate(input(set, pods, nodes));
  expect({ create: plan.create, delete: names(plan.delete) }).toEqual({
    create: [],
    delete: [],
    ...expected,
  });
});

it('Pods that fail on a node are replaced at longer and longer intervals, up to 15 minutes', async () => {
  const clock = new VirtualClock();
  const backOff = new FailedPodsBackOff(clock);
  expect([backOff.next('n'), backOff.next('n'), backOff.next('other')]).toEqual([0, 1000, 0]);
  await clock.advance(1000);
  expect([backOff.next('n'), backOff.next('n')]).toEqual([0, 2000]);
  for (let wait = 2000; wait < 900_000; wait = backOff.next('n')) {
    await clock.advance(wait);
    expect(backOff.next('n')).toBe(0);
  }
  expect(backOff.next('n')).toBe(900_000);
  await clock.advance(1_800_001);
  backOff.sweep();
  expect([backOff.next('n'), backOff.next('n')]).toEqual([0, 1000]);
});

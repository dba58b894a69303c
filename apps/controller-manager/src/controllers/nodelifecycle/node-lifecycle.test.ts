import type { Node, NodeCondition } from '@tinkernetes/api';
import { observe, silentConditions } from './health';
import { noExecuteKey, withNoExecuteTaint, withNoScheduleTaints } from './taints';

const now = Date.UTC(2026, 0, 1);
const node = (
  ready: string | undefined,
  more: Partial<Node['spec']> = {},
  conditions: NodeCondition[] = [],
): Node => ({
  metadata: { name: 'n' },
  spec: more,
  status: {
    conditions:
      ready === undefined
        ? conditions
        : [{ type: 'Ready', status: ready, lastHeartbeatTime: 't0' }, ...conditions],
  },
});
const keys = (taints: readonly { key: string; effect: string }[]) =>
  taints.map((t) => `${t.key}:${t.effect}`);

it.each([
  ['True', {}, []],
  ['False', {}, ['node.kubernetes.io/not-ready:NoSchedule']],
  ['Unknown', {}, ['node.kubernetes.io/unreachable:NoSchedule']],
  ['True', { unschedulable: true }, ['node.kubernetes.io/unschedulable:NoSchedule']],
] as const)('taints a node whose Ready is %s, %o, with %o', (ready, spec, expected) => {
  expect(keys(withNoScheduleTaints(node(ready, spec), 'now'))).toEqual(expected);
});

it('takes its own taints off again and leaves others alone', () => {
  const taints = [
    { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' as const },
    { key: 'mine', effect: 'NoSchedule' as const },
  ];
  expect(keys(withNoScheduleTaints(node('True', { taints }), 'now'))).toEqual(['mine:NoSchedule']);
  const clean = [{ key: 'mine', effect: 'NoSchedule' as const }];
  expect(withNoScheduleTaints(node('True', { taints: clean }), 'now')).toBe(clean);
});

it('replaces one NoExecute taint by the other as Ready changes', () => {
  const once = withNoExecuteTaint([], noExecuteKey(node('False')), 'now');
  expect(keys(once)).toEqual(['node.kubernetes.io/not-ready:NoExecute']);
  const twice = withNoExecuteTaint(once, noExecuteKey(node('Unknown')), 'later');
  expect(keys(twice)).toEqual(['node.kubernetes.io/unreachable:NoExecute']);
  expect(withNoExecuteTaint(twice, noExecuteKey(node('True')), 'later')).toEqual([]);
  expect(withNoExecuteTaint(twice, noExecuteKey(node('Unknown')), 'later')).toBe(twice);
});

it('counts a change of the lease or of the heartbeat as a sign of life, by its own clock', () => {
  const first = observe(undefined, { node: node('True'), lease: undefined, now });
  expect(observe(first, { node: node('True'), lease: undefined, now: now + 60_000 })).toBe(first);
  const lease = { metadata: { name: 'n' }, spec: { renewTime: 'r1' } };
  expect(observe(first, { node: node('True'), lease, now: now + 60_000 }).seenAtMs).toBe(now + 60_000);
});

it('C27 makes all conditions of a silent node Unknown, once', () => {
  const silent = silentConditions(node('True'), now);
  expect(silent.map((c) => [c.type, c.status, c.reason])).toEqual([
    ['Ready', 'Unknown', 'NodeStatusUnknown'],
    ['MemoryPressure', 'Unknown', 'NodeStatusNeverUpdated'],
    ['DiskPressure', 'Unknown', 'NodeStatusNeverUpdated'],
    ['PIDPressure', 'Unknown', 'NodeStatusNeverUpdated'],
  ]);
  expect(silent[0]?.message).toBe('Kubelet stopped posting node status.');
  const marked: Node = { ...node(undefined), status: { conditions: [...silent] } };
  expect(silentConditions(marked, now)).toBe(marked.status?.conditions);
});

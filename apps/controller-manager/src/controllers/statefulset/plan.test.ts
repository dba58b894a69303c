import type { Pod, StatefulSet } from '@tinkernetes/api';
import { planActions } from './plan';

const setOf = (spec: Partial<StatefulSet['spec']> = {}): StatefulSet => ({
  metadata: { name: 'db', namespace: 'ns' },
  spec: { replicas: 3, selector: {}, template: {}, ...spec },
});
interface Shape {
  revision?: string;
  ready?: boolean;
  phase?: 'Running' | 'Failed' | 'Succeeded' | 'Pending';
  deleting?: boolean;
  nameless?: boolean;
}
const podOf = (
  ordinal: number,
  { revision = 'good', ready = true, phase = 'Running', deleting, nameless }: Shape = {},
): Pod => ({
  metadata: {
    name: `db-${ordinal}`,
    labels: {
      'controller-revision-hash': revision,
      ...(nameless ? {} : { 'statefulset.kubernetes.io/pod-name': `db-${ordinal}` }),
    },
    ...(deleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
  },
  spec: { containers: [] },
  status: { phase, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
});
const plan = (set: StatefulSet, pods: readonly Pod[], updateRevision = 'good'): string[] =>
  planActions({ set, pods, updateRevision, now: 0 }).map((action) =>
    action.do === 'create'
      ? `create ${action.ordinal} ${action.revision}`
      : `${action.do} ${action.do === 'claim' ? action.ordinal : action.pod.metadata.name}`,
  );
const parallel = { podManagementPolicy: 'Parallel' } as const;
const partition = (value: number) => ({
  updateStrategy: { type: 'RollingUpdate' as const, rollingUpdate: { partition: value } },
});
const maxUnavailable = (value: number | string) => ({
  updateStrategy: { type: 'RollingUpdate' as const, rollingUpdate: { partition: 0, maxUnavailable: value } },
});
const bad = { revision: 'bad', ready: false };

it.each<[string, StatefulSet, Pod[], string, string[]]>([
  ['makes the first Pod', setOf(), [], 'good', ['create 0 update']],
  ['waits for a Pod that is not ready', setOf(), [podOf(0, { ready: false })], 'good', []],
  [
    'makes all Pods at once when Parallel',
    setOf(parallel),
    [],
    'good',
    ['create 0 update', 'create 1 update', 'create 2 update'],
  ],
  [
    'removes the highest ordinal first',
    setOf({ replicas: 1 }),
    [podOf(0), podOf(1), podOf(2)],
    'good',
    ['delete db-2'],
  ],
  ['C23 updates from the highest ordinal', setOf(), [podOf(0), podOf(1), podOf(2)], 'new', ['delete db-2']],
  ['C23 waits for the replaced Pod', setOf(), [podOf(0), podOf(1), podOf(2, bad)], 'bad', []],
  ['C23 stays stuck after the revert', setOf(), [podOf(0), podOf(1), podOf(2, bad)], 'good', []],
  [
    'C23 makes the deleted Pod at the good revision',
    setOf(),
    [podOf(0), podOf(1)],
    'good',
    ['create 2 update'],
  ],
  [
    'C23 replaces the bad Pod when Parallel',
    setOf(parallel),
    [podOf(0), podOf(1), podOf(2, bad)],
    'good',
    ['delete db-2'],
  ],
  ['C23 replaces a Pod that Failed', setOf(), [podOf(0, { phase: 'Failed' })], 'good', ['delete db-0']],
  [
    'C23 updates nothing below the partition',
    setOf(partition(2)),
    [podOf(0), podOf(1), podOf(2, { revision: 'new' })],
    'new',
    [],
  ],
  [
    'C23 makes Pods below the partition at the current revision',
    setOf(partition(2)),
    [podOf(1), podOf(2)],
    'new',
    ['create 0 current'],
  ],
  [
    'looks after the claims of a Pod that is Pending',
    setOf(),
    [podOf(0, { phase: 'Pending', ready: false })],
    'good',
    ['claim 0'],
  ],
  [
    'waits for one that has ended and is going',
    setOf(),
    [podOf(0, { phase: 'Failed', deleting: true })],
    'good',
    [],
  ],
  [
    'gives a Pod back the label with its name',
    setOf({ replicas: 1 }),
    [podOf(0, { nameless: true })],
    'good',
    ['identify db-0'],
  ],
  [
    'removes one that serves nobody when it is the only one',
    setOf({ replicas: 1 }),
    [podOf(0), podOf(1), podOf(2, { ready: false })],
    'good',
    ['delete db-2'],
  ],
  [
    'removes none while one below serves nobody either',
    setOf({ replicas: 1 }),
    [podOf(0), podOf(1, { ready: false }), podOf(2, { ready: false })],
    'good',
    [],
  ],
  [
    'removes one after the other',
    setOf({ replicas: 1 }),
    [podOf(0), podOf(1), podOf(2, { deleting: true })],
    'good',
    [],
  ],
  [
    'removes all at once when Parallel',
    setOf({ replicas: 1, ...parallel }),
    [podOf(0), podOf(1), podOf(2)],
    'good',
    ['delete db-2', 'delete db-1'],
  ],
  [
    'updates as many as maxUnavailable says',
    setOf(maxUnavailable(2)),
    [podOf(0), podOf(1), podOf(2)],
    'new',
    ['delete db-2', 'delete db-1'],
  ],
  [
    'takes a percentage of maxUnavailable downwards, and at least one',
    setOf(maxUnavailable('60%')),
    [podOf(0), podOf(1), podOf(2)],
    'new',
    ['delete db-2'],
  ],
  [
    'counts all that are away against maxUnavailable',
    setOf({ ...maxUnavailable(2), ...parallel }),
    [podOf(0, { ready: false }), podOf(1), podOf(2)],
    'new',
    ['delete db-2'],
  ],
  [
    'leaves old Pods alone with OnDelete',
    setOf({ updateStrategy: { type: 'OnDelete' } }),
    [podOf(0), podOf(1), podOf(2)],
    'new',
    [],
  ],
  [
    'starts where ordinals.start says',
    setOf({ replicas: 1, ordinals: { start: 5 } }),
    [],
    'good',
    ['create 5 update'],
  ],
])('%s', (_, set, pods, updateRevision, expected) => {
  expect(plan(set, pods, updateRevision)).toEqual(expected);
});

import type { Pod, ReplicaSet } from '@tinkernetes/api';
import { calculateStatus, untilNextAvailable } from './status';

const now = Date.parse('2026-01-01T00:01:00Z');
const podOf = (labels: Record<string, string>, readySince?: string): Pod => ({
  metadata: { name: 'p', labels },
  spec: { containers: [] },
  status: {
    phase: 'Running',
    conditions: [
      readySince === undefined
        ? { type: 'Ready', status: 'False' }
        : { type: 'Ready', status: 'True', lastTransitionTime: readySince },
    ],
  },
});
const failed = (reason: string) => ({ type: 'ReplicaFailure', status: 'True', reason, message: 'before' });
const setOf = (minReadySeconds = 0, status: ReplicaSet['status'] = { replicas: 0 }): ReplicaSet => ({
  metadata: { name: 'rs', generation: 3 },
  spec: {
    replicas: 2,
    minReadySeconds,
    selector: { matchLabels: { app: 'rs' } },
    template: { metadata: { labels: { app: 'rs', tier: 'web' } } },
  },
  status,
});
const full = { app: 'rs', tier: 'web' };
const justNow = '2026-01-01T00:00:59Z';
const longAgo = '2026-01-01T00:00:00Z';

it('counts what is there, labelled as the template says, ready and available', () => {
  const pods = [podOf(full, longAgo), podOf({ app: 'rs' }, justNow), podOf(full)];
  expect(calculateStatus(setOf(30), { pods, terminating: 1, now })).toEqual({
    replicas: 3,
    fullyLabeledReplicas: 2,
    readyReplicas: 2,
    availableReplicas: 1,
    terminatingReplicas: 1,
    observedGeneration: 3,
  });
});

it.each([
  ['tells a failure to create', undefined, 'create', [{ reason: 'FailedCreate', message: 'quota' }]],
  ['tells a failure to delete', undefined, 'delete', [{ reason: 'FailedDelete', message: 'quota' }]],
  ['keeps the first failure', failed('FailedCreate'), 'delete', [failed('FailedCreate')]],
  ['forgets it when it fails no more', failed('FailedCreate'), undefined, undefined],
] as const)('a ReplicaSet %s', (_, before, kind, expected) => {
  const set = setOf(0, { replicas: 0, conditions: before ? [before] : [] });
  const failure = kind ? { kind, message: 'quota' } : undefined;
  const { conditions } = calculateStatus(set, { pods: [], terminating: 0, failure, now });
  if (expected) expect(conditions).toMatchObject(expected);
  else expect(conditions).toBeUndefined();
});

it.each([
  ['the first that becomes so', 30, [podOf(full, justNow), podOf(full, '2026-01-01T00:00:40Z')], 10_000],
  ['nobody where all are', 30, [podOf(full, longAgo)], undefined],
  ['nobody where none is ready', 30, [podOf(full)], undefined],
  ['nobody where being ready is enough', 0, [podOf(full, justNow)], undefined],
])('waits for %s', (_, minReadySeconds, pods, expected) => {
  expect(untilNextAvailable(setOf(minReadySeconds), pods, now)).toBe(expected);
});

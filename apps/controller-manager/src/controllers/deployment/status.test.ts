import type { Deployment, DeploymentStatus, ReplicaSet } from '@tinkernetes/api';
import { findCondition } from '@tinkernetes/apimachinery';
import { rolloutStatus, withCondition } from './status';

const now = Date.UTC(2026, 0, 1, 1);
const before = '2026-01-01T00:00:00Z';
const justNow = '2026-01-01T00:59:55Z';

const deployment = (status: DeploymentStatus = {}, progressDeadlineSeconds = 600): Deployment => ({
  metadata: { name: 'web', generation: 1 },
  spec: {
    replicas: 2,
    selector: {},
    template: {},
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    progressDeadlineSeconds,
  },
  status: { observedGeneration: 1, ...status },
});
const set = (
  name: string,
  replicas: number,
  available = replicas,
  conditions: object[] = [],
): ReplicaSet => ({
  metadata: { name },
  spec: { replicas, selector: {} },
  status: {
    replicas,
    readyReplicas: available,
    availableReplicas: available,
    conditions: conditions as never,
  },
});
const progressing = (reason: string, lastUpdateTime: string, status = 'True') => [
  { type: 'Progressing', status, reason, lastUpdateTime, lastTransitionTime: before },
];
const statusOf = (given: Deployment, next: ReplicaSet, old: ReplicaSet[] = []) =>
  rolloutStatus(given, { all: [next, ...old], next, old }, now);

it.each([
  [
    'has progressed when all are new and available',
    deployment({ conditions: progressing('ReplicaSetUpdated', justNow) }),
    set('n', 2),
    {
      status: 'True',
      reason: 'NewReplicaSetAvailable',
      message: 'ReplicaSet "n" has successfully progressed.',
    },
  ],
  [
    'progresses when more are available than before',
    deployment({ updatedReplicas: 2, replicas: 2, conditions: progressing('ReplicaSetUpdated', before) }),
    set('n', 2, 1),
    { status: 'True', reason: 'ReplicaSetUpdated', message: 'ReplicaSet "n" is progressing.' },
  ],
  [
    'keeps waiting before its deadline',
    deployment({ updatedReplicas: 2, replicas: 2, conditions: progressing('ReplicaSetUpdated', justNow) }),
    set('n', 2, 0),
    { status: 'True', reason: 'ReplicaSetUpdated', lastUpdateTime: justNow },
  ],
  [
    'has timed out after it',
    deployment({ updatedReplicas: 2, replicas: 2, conditions: progressing('ReplicaSetUpdated', before) }),
    set('n', 2, 0),
    {
      status: 'False',
      reason: 'ProgressDeadlineExceeded',
      message: 'ReplicaSet "n" has timed out progressing.',
    },
  ],
  [
    'stays complete when a Pod is lost later',
    deployment({
      updatedReplicas: 2,
      replicas: 2,
      conditions: progressing('NewReplicaSetAvailable', before),
    }),
    set('n', 2, 1),
    { status: 'True', reason: 'NewReplicaSetAvailable', lastUpdateTime: before },
  ],
])('a rollout %s', (_, given, next, expected) => {
  expect(findCondition(statusOf(given, next).conditions, 'Progressing')).toMatchObject(expected);
});

it('a rollout without a deadline tells nothing of its progress', () => {
  const given = deployment({ conditions: progressing('ReplicaSetUpdated', before) }, 2147483647);
  expect(findCondition(statusOf(given, set('n', 2, 0)).conditions, 'Progressing')).toBeUndefined();
});

it.each([
  ['enough are available', 2, 'True', 'MinimumReplicasAvailable'],
  ['too few are', 1, 'False', 'MinimumReplicasUnavailable'],
])('a Deployment tells whether %s', (_, available, status, reason) => {
  const { conditions, unavailableReplicas } = statusOf(deployment(), set('n', 2, available));
  expect(findCondition(conditions, 'Available')).toMatchObject({ status, reason });
  expect(unavailableReplicas).toBe(2 - available);
});

it('a Deployment tells what a ReplicaSet failed at, until it fails no more', () => {
  const failure = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'quota' };
  const failing = statusOf(deployment(), set('n', 0, 0), [set('o', 2, 2, [failure])]);
  expect(findCondition(failing.conditions, 'ReplicaFailure')).toMatchObject(failure);
  const after = statusOf(deployment(failing), set('n', 2));
  expect(findCondition(after.conditions, 'ReplicaFailure')).toBeUndefined();
});

it('a condition keeps its transition time while its status is the same', () => {
  const value = { type: 'Progressing', status: 'True', reason: 'New', message: '' } as const;
  const [condition] = withCondition(progressing('Old', before), value, now);
  expect(condition).toMatchObject({
    reason: 'New',
    lastTransitionTime: before,
    lastUpdateTime: '2026-01-01T01:00:00Z',
  });
});

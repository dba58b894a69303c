import type { Pod, StatefulSet } from '@tinkernetes/api';
import { calculateStatus } from './status';

const podOf = (revision: string, ready = true, deleting = false): Pod => ({
  metadata: {
    name: 'db-0',
    labels: { 'controller-revision-hash': revision },
    ...(deleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
  },
  spec: { containers: [] },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
});
const setOf = (type: 'RollingUpdate' | 'OnDelete' = 'RollingUpdate'): StatefulSet => ({
  metadata: { name: 'db', generation: 2 },
  spec: { replicas: 2, selector: {}, template: {}, updateStrategy: { type } },
});
const statusOf = (set: StatefulSet, pods: Pod[]) =>
  calculateStatus(set, { pods, currentRevision: 'a', updateRevision: 'b', collisionCount: 0, now: 0 });

it.each<[string, StatefulSet, Pod[], object]>([
  [
    'counts both revisions while it updates',
    setOf(),
    [podOf('a'), podOf('b', false)],
    { currentRevision: 'a', currentReplicas: 1, updatedReplicas: 1, readyReplicas: 1, replicas: 2 },
  ],
  [
    'counts one that is going for neither',
    setOf(),
    [podOf('a'), podOf('a', true, true)],
    { currentReplicas: 1, updatedReplicas: 0, replicas: 2 },
  ],
  [
    'is at the new revision when all are',
    setOf(),
    [podOf('b'), podOf('b')],
    { currentRevision: 'b', currentReplicas: 2, updatedReplicas: 2 },
  ],
  [
    'is not while one of them is missing',
    setOf(),
    [podOf('b')],
    { currentRevision: 'a', currentReplicas: 0, updatedReplicas: 1 },
  ],
  [
    'never is with OnDelete',
    setOf('OnDelete'),
    [podOf('b'), podOf('b')],
    { currentRevision: 'a', updateRevision: 'b', currentReplicas: 0, updatedReplicas: 2 },
  ],
])('a StatefulSet %s', (_, set, pods, expected) => {
  expect(statusOf(set, pods)).toMatchObject(expected);
});

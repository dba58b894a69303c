import type { Deployment, ReplicaSet } from '@tinkernetes/api';
import { scaleProportionally } from './proportional-scaling';
import { newReplicaSetSize, resolveFenceposts, shrinkOldReplicaSets } from './rolling-update';

const deploymentOf = (
  replicas: number,
  maxSurge: number | string,
  maxUnavailable: number | string,
): Deployment => ({
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas,
    selector: {},
    template: {},
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } },
  },
});
const setOf = (name: string, replicas: number, available: number, annotations = {}): ReplicaSet => ({
  metadata: { name, annotations, creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { replicas, selector: {} },
  status: { replicas, availableReplicas: available },
});

it.each([
  [1, '25%', '25%', { surge: 1, unavailable: 0 }],
  [4, '25%', '25%', { surge: 1, unavailable: 1 }],
  [5, '25%', '25%', { surge: 2, unavailable: 1 }],
  [10, '25%', '25%', { surge: 3, unavailable: 2 }],
  [3, 0, '1%', { surge: 0, unavailable: 1 }],
])('C21 resolves %i replicas with surge %s and unavailable %s', (replicas, surge, unavailable, expected) => {
  expect(resolveFenceposts(deploymentOf(replicas, surge, unavailable).spec)).toEqual(expected);
});

it('C21 rests at one old and one new Pod while the new one is not available', () => {
  const deployment = deploymentOf(1, '25%', '25%');
  const old = setOf('old', 1, 1);
  expect(newReplicaSetSize(deployment, [old, setOf('new', 0, 0)], 0)).toBe(1);
  const next = setOf('new', 1, 0);
  expect(newReplicaSetSize(deployment, [old, next], 1)).toBe(1);
  expect([...shrinkOldReplicaSets(deployment, { old: [old], next })]).toEqual([]);
});

it('C21 takes the old Pod down first where no surge is allowed', () => {
  const deployment = deploymentOf(3, 0, '1%');
  const [old, next] = [setOf('old', 3, 3), setOf('new', 0, 0)];
  expect(newReplicaSetSize(deployment, [old, next], 0)).toBe(0);
  expect([...shrinkOldReplicaSets(deployment, { old: [old], next })]).toEqual([['old', 2]]);
});

it('C21 never exceeds replicas + surge nor falls below replicas - unavailable, whatever becomes available when', () => {
  const deployment = deploymentOf(10, '25%', '25%');
  let [old, next] = [setOf('old', 10, 10), setOf('new', 0, 0)];
  for (let step = 0; step < 100 && (next.spec.replicas !== 10 || old.spec.replicas !== 0); step++) {
    const size = newReplicaSetSize(deployment, [old, next], next.spec.replicas ?? 0);
    const grown = size !== next.spec.replicas;
    if (grown) next = setOf('new', size, next.status?.availableReplicas ?? 0);
    else {
      const shrunk = shrinkOldReplicaSets(deployment, { old: [old], next }).get('old');
      if (shrunk !== undefined) old = setOf('old', shrunk, shrunk);
      else next = setOf('new', size, Math.min(size, (next.status?.availableReplicas ?? 0) + 1));
    }
    expect((old.spec.replicas ?? 0) + (next.spec.replicas ?? 0)).toBeLessThanOrEqual(13);
    expect(
      (old.status?.availableReplicas ?? 0) + (next.status?.availableReplicas ?? 0),
    ).toBeGreaterThanOrEqual(8);
  }
  expect([old.spec.replicas, next.spec.replicas]).toEqual([0, 10]);
});

it('removes old Pods that never became available before available ones', () => {
  const deployment = deploymentOf(3, 0, 1);
  const old = [setOf('broken', 1, 0), setOf('good', 2, 2)];
  expect([...shrinkOldReplicaSets(deployment, { old, next: setOf('new', 0, 0) })]).toEqual([['broken', 0]]);
});

it('scales old and new ReplicaSets in proportion while a rollout is under way', () => {
  const deployment = deploymentOf(20, 0, 0);
  const max = { 'deployment.kubernetes.io/max-replicas': '10' };
  const sizes = scaleProportionally(deployment, [setOf('old', 8, 8, max), setOf('new', 2, 2, max)]);
  expect(Object.fromEntries(sizes)).toEqual({ old: 16, new: 4 });
});

import type { Deployment, ReplicaSet } from '@tinkernetes/api';
import { annotations } from './annotations';
import { scaleProportionally } from './proportional-scaling';
import { isScalingEvent } from './strategies';

const deploymentOf = (replicas: number, maxSurge: number | string = 3): Deployment => ({
  metadata: { name: 'web' },
  spec: {
    replicas,
    selector: {},
    template: {},
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable: 2 } },
  },
  status: { replicas: 13 },
});
/** As sized when the Deployment had `before` replicas, and a surge of 3. */
const setOf = (
  name: string,
  replicas: number,
  before = 10,
  created = '2026-01-01T00:00:00Z',
): ReplicaSet => ({
  metadata: {
    name,
    creationTimestamp: created,
    annotations: { [annotations.desiredReplicas]: `${before}`, [annotations.maxReplicas]: `${before + 3}` },
  },
  spec: { replicas, selector: {} },
});
const older = '2025-01-01T00:00:00Z';

it.each<[string, number, ReplicaSet[], Record<string, number>]>([
  ['5 of 15, as the Deployment page tells', 15, [setOf('old', 8), setOf('new', 5)], { old: 11, new: 7 }],
  ['down in proportion, the rest off the largest', 5, [setOf('old', 8), setOf('new', 5)], { old: 5, new: 3 }],
  ['nothing where the size is right', 10, [setOf('old', 8), setOf('new', 5)], { old: 8, new: 5 }],
  ['all away', 0, [setOf('old', 8), setOf('new', 5)], { old: 0, new: 0 }],
  [
    'the newer of equal ones first when it grows',
    11,
    [setOf('old', 5, 7, older), setOf('new', 5, 7)],
    { new: 7, old: 7 },
  ],
  ['what has no Pods not at all', 15, [setOf('old', 13), setOf('idle', 0)], { old: 18 }],
])('scaling gives %s', (_, replicas, sets, expected) => {
  expect(Object.fromEntries(scaleProportionally(deploymentOf(replicas), sets))).toEqual(expected);
});

it('goes by the present size where somebody took the earlier one off', () => {
  const bare = (name: string, replicas: number): ReplicaSet => ({
    ...setOf(name, replicas),
    metadata: { name, creationTimestamp: older },
  });
  const sizes = scaleProportionally(deploymentOf(15), [bare('old', 8), bare('new', 5)]);
  expect(Object.fromEntries(sizes)).toEqual({ old: 11, new: 7 });
});

it.each([
  ['sized for another number', [setOf('a', 5, 10)], true],
  ['sized for this one', [setOf('a', 5, 12)], false],
  ['without Pods', [setOf('a', 0, 10)], false],
])('a Deployment was scaled when a ReplicaSet is %s: %s', (_, all, expected) => {
  const deployment = deploymentOf(12);
  expect(isScalingEvent({ deployment, all, next: undefined, old: all })).toBe(expected);
});

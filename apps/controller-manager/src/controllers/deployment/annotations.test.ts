import type { Deployment, ReplicaSet } from '@tinkernetes/api';
import { annotations, newReplicaSetAnnotations } from './annotations';
import { newReplicaSet } from './new-replica-set';

const deploymentOf = (own: Record<string, string> = {}, name = 'web'): Deployment => ({
  metadata: { name, namespace: 'default', annotations: own },
  spec: {
    replicas: 4,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [] } },
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
  },
});
const setOf = (own: Record<string, string>): ReplicaSet => ({
  metadata: { name: 'web-1', annotations: own },
  spec: { selector: {} },
});

it('a new ReplicaSet has its revision, its sizes and what the Deployment is annotated with', () => {
  const own = { note: 'kept', [annotations.lastApplied]: '{}', [annotations.revision]: '7' };
  expect(newReplicaSetAnnotations(deploymentOf(own), undefined, 3)).toEqual({
    note: 'kept',
    [annotations.revision]: '3',
    [annotations.desiredReplicas]: '4',
    [annotations.maxReplicas]: '5',
  });
});

it('one that is there keeps the sizes that later proportional scaling goes by', () => {
  const sizes = { [annotations.desiredReplicas]: '10', [annotations.maxReplicas]: '13' };
  expect(
    newReplicaSetAnnotations(deploymentOf(), setOf({ ...sizes, [annotations.revision]: '1' }), 1),
  ).toEqual({ ...sizes, [annotations.revision]: '1' });
});

it.each([
  ['starts with the revision it had', undefined, '2', '2'],
  ['goes on with the next', '2', '5', '2,5'],
  ['lets the oldest go where it is full', `1,22,${'3'.repeat(1994)}`, '4', `22,${'3'.repeat(1994)},4`],
])('the history of one that is rolled back to %s', (_, history, before, expected) => {
  const own = {
    [annotations.revision]: before,
    ...(history ? { [annotations.revisionHistory]: history } : {}),
  };
  const next = newReplicaSetAnnotations(deploymentOf(), setOf(own), 9);
  expect(next).toEqual({ [annotations.revision]: '9', [annotations.revisionHistory]: expected });
});

it('the name of a ReplicaSet is a name, however long that of its Deployment is', () => {
  const { name, labels } = newReplicaSet(deploymentOf({}, 'd'.repeat(253)), [], 1).metadata;
  expect(name).toHaveLength(253);
  expect(name.endsWith(`d-${labels?.['pod-template-hash']}`)).toBe(true);
});

import type { KubeObject, Pod } from '@tinkernetes/api';
import { makeNode, makePod, type PodShape } from '../testing/objects';
import { TestCluster } from '../testing/test-cluster';

const zone = 'topology.kubernetes.io/zone';
const nodes = [
  makeNode('a1', { labels: { [zone]: 'a' } }),
  makeNode('a2', { labels: { [zone]: 'a' } }),
  makeNode('b1', { labels: { [zone]: 'b' } }),
  makeNode('nowhere'),
];
const app = (value: string) => ({ labelSelector: { matchLabels: { app: value } } });
const near = (value: string, topologyKey = zone, more: object = {}) =>
  ({
    podAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [{ ...app(value), topologyKey, ...more }],
    },
  }) as never;
const apart = (value: string, topologyKey = zone, more: object = {}) =>
  ({
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [{ ...app(value), topologyKey, ...more }],
    },
  }) as never;
const noMatch = "node(s) didn't match pod affinity rules";
const antiMatch = "node(s) didn't match pod anti-affinity rules";
const existing = "node(s) didn't satisfy existing pods anti-affinity rules";

interface Case {
  rule: string;
  pods?: Pod[];
  objects?: KubeObject[];
  pod: PodShape;
  expected: Record<string, string>;
}
const db = makePod('db', { node: 'a1', labels: { app: 'db' } });
const dbElsewhere = makePod('db', { node: 'a1', namespace: 'data', labels: { app: 'db' } });

const cases: Case[] = [
  {
    rule: 'affinity: only domains where a matching Pod runs',
    pods: [db],
    pod: { spec: { affinity: near('db') } },
    expected: { a1: 'ok', a2: 'ok', b1: noMatch, nowhere: noMatch },
  },
  {
    rule: 'affinity: Pods of other namespaces do not count',
    pods: [dbElsewhere],
    pod: { spec: { affinity: near('db') } },
    expected: { a1: noMatch, a2: noMatch, b1: noMatch, nowhere: noMatch },
  },
  {
    rule: 'affinity: unless the term names the namespace',
    pods: [dbElsewhere],
    pod: { spec: { affinity: near('db', zone, { namespaces: ['data'] }) } },
    expected: { a1: 'ok', a2: 'ok', b1: noMatch, nowhere: noMatch },
  },
  {
    rule: 'affinity: or selects it by its labels',
    pods: [dbElsewhere],
    objects: [{ kind: 'Namespace', metadata: { name: 'data', labels: { team: 'blue' } } } as KubeObject],
    pod: { spec: { affinity: near('db', zone, { namespaceSelector: { matchLabels: { team: 'blue' } } }) } },
    expected: { a1: 'ok', a2: 'ok', b1: noMatch, nowhere: noMatch },
  },
  {
    rule: 'affinity: the first of a group that wants to be together may go anywhere with the topology',
    pod: { labels: { app: 'web' }, spec: { affinity: near('web') } },
    expected: { a1: 'ok', a2: 'ok', b1: 'ok', nowhere: noMatch },
  },
  {
    rule: 'anti-affinity: not into a domain where a matching Pod runs',
    pods: [db],
    pod: { spec: { affinity: apart('db') } },
    expected: { a1: antiMatch, a2: antiMatch, b1: 'ok', nowhere: 'ok' },
  },
  {
    rule: 'anti-affinity: by host name it is a matter of the node',
    pods: [db],
    pod: { spec: { affinity: apart('db', 'kubernetes.io/hostname') } },
    expected: { a1: antiMatch, a2: 'ok', b1: 'ok', nowhere: 'ok' },
  },
  {
    rule: 'anti-affinity: of a Pod that runs already holds against newcomers',
    pods: [makePod('lonely', { node: 'b1', spec: { affinity: apart('web') } })],
    pod: { labels: { app: 'web' } },
    expected: { a1: 'ok', a2: 'ok', b1: existing, nowhere: 'ok' },
  },
];

it.each(cases)('$rule', ({ pods, objects, pod, expected }) => {
  expect(new TestCluster({ nodes, pods, objects }).verdicts(makePod('new', pod))).toEqual(expected);
});

it('prefers what preferred terms ask for, and keeps away from what they ask against', () => {
  const prefer = (weight: number, value: string) => ({
    weight,
    podAffinityTerm: { ...app(value), topologyKey: zone },
  });
  const cluster = new TestCluster({
    nodes: nodes.slice(0, 3),
    pods: [db, makePod('noisy', { node: 'b1', labels: { app: 'noisy' } })],
  });
  const affinity = {
    podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [prefer(10, 'db')] },
    podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [prefer(10, 'noisy')] },
  } as never;
  expect(cluster.scores(makePod('new', { spec: { affinity } }), 'InterPodAffinity')).toEqual({
    a1: 100,
    a2: 100,
    b1: 0,
  });
});

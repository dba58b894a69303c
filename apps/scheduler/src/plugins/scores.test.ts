import type { Pod } from '@tinkernetes/api';
import { makeNode, makePod } from '../testing/objects';
import { TestCluster } from '../testing/test-cluster';

const half = makePod('half', { node: 'b', requests: { cpu: '2', memory: '4Gi' } });
const asking = makePod('new', { requests: { cpu: '1', memory: '2Gi' } });
const mebibyte = 1024 * 1024;

it.each([
  { strategy: 'LeastAllocated', expected: { a: 75, b: 25 } },
  { strategy: 'MostAllocated', expected: { a: 25, b: 75 } },
  {
    strategy: 'RequestedToCapacityRatio',
    more: {
      requestedToCapacityRatio: {
        shape: [
          { utilization: 0, score: 0 },
          { utilization: 100, score: 10 },
        ],
      },
    },
    expected: { a: 25, b: 75 },
  },
])('NodeResourcesFit scores by $strategy', ({ strategy, more, expected }) => {
  const cluster = new TestCluster({
    nodes: [makeNode('a'), makeNode('b')],
    pods: [half],
    pluginConfig: { NodeResourcesFit: { scoringStrategy: { type: strategy, ...more } } },
  });
  expect(cluster.scores(asking, 'NodeResourcesFit')).toEqual(expected);
});

it('NodeResourcesBalancedAllocation prefers nodes whose resources are used evenly', () => {
  const cluster = new TestCluster({
    nodes: [makeNode('a'), makeNode('b')],
    pods: [makePod('cpu-bound', { node: 'b', requests: { cpu: '2' } })],
  });
  expect(cluster.scores(asking, 'NodeResourcesBalancedAllocation')).toEqual({ a: 100, b: 75 });
});

it('TaintToleration prefers nodes with fewer soft taints', () => {
  const soft = (key: string) => ({ key, effect: 'PreferNoSchedule' as const });
  const cluster = new TestCluster({
    nodes: [
      makeNode('a', { spec: { taints: [soft('x'), soft('y')] } }),
      makeNode('b', { spec: { taints: [soft('x')] } }),
      makeNode('c'),
    ],
  });
  expect(cluster.scores(asking, 'TaintToleration')).toEqual({ a: 0, b: 50, c: 100 });
});

it('NodeAffinity adds up the weights of preferences that hold', () => {
  const prefer = (weight: number, key: string) => ({
    weight,
    preference: { matchExpressions: [{ key, operator: 'Exists' }] },
  });
  const affinity = {
    nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [prefer(80, 'ssd'), prefer(20, 'gpu')] },
  } as never;
  const cluster = new TestCluster({
    nodes: [
      makeNode('a', { labels: { ssd: '' } }),
      makeNode('b', { labels: { ssd: '', gpu: '' } }),
      makeNode('c'),
    ],
  });
  expect(cluster.scores(makePod('new', { spec: { affinity } }), 'NodeAffinity')).toEqual({
    a: 80,
    b: 100,
    c: 0,
  });
});

it('ImageLocality prefers nodes that have the image', () => {
  const cluster = new TestCluster({
    nodes: [makeNode('a', { images: { 'nginx:latest': 1046 * mebibyte } }), makeNode('b')],
  });
  expect(cluster.scores(asking, 'ImageLocality')).toEqual({ a: 51, b: 0 });
});

it('picks one of the best by chance', () => {
  const cluster = new TestCluster({ nodes: ['a', 'b', 'c'].map((name) => makeNode(name)) });
  const chosen = new Set(
    Array.from({ length: 30 }, () => cluster.place(makePod('new'))).map((p) => p.kind === 'found' && p.node),
  );
  expect([...chosen].sort()).toEqual(['a', 'b', 'c']);
});

it('stops looking when enough nodes fit, and begins elsewhere the next time', () => {
  const nodes = Array.from({ length: 1000 }, (_, i) => makeNode(`n${i}`));
  const cluster = new TestCluster({ nodes, percentageOfNodesToScore: 20 });
  const [first, second] = [cluster.place(makePod('1')), cluster.place(makePod('2'))];
  expect([first, second].map((p) => p.kind === 'found' && p.feasible)).toEqual([200, 200]);
  const names = (p: typeof first) => (p.kind === 'found' ? (p.scores?.nodes ?? []) : []);
  expect(names(second).filter((node) => names(first).includes(node))).toEqual([]);
});

it('takes Pods nominated to a node into account, if they are as important', () => {
  const cluster = new TestCluster({ nodes: [makeNode('a')] });
  const coming = (priority: number): Pod => makePod('coming', { requests: { cpu: '3' }, spec: { priority } });
  cluster.nominator.nominate(coming(10), 'a');
  const pod = makePod('new', { requests: { cpu: '2' }, spec: { priority: 10 } });
  expect(cluster.verdicts(pod)).toEqual({ a: 'Insufficient cpu' });
  cluster.nominator.nominate(coming(9), 'a');
  expect(cluster.verdicts(pod)).toEqual({ a: 'ok' });
});

import { makeNode, makePod } from '../testing/objects';
import { SchedulerCache } from './scheduler-cache';

const names = (cache: SchedulerCache, node: string) =>
  cache
    .snapshot()
    .get(node)
    ?.pods.map(({ pod }) => pod.metadata.name);

function withNodes(...nodes: string[]): SchedulerCache {
  const cache = new SchedulerCache();
  for (const node of nodes) cache.putNode(makeNode(node));
  return cache;
}

it('counts an assumed Pod until it is forgotten, and a confirmed one whatever is forgotten', () => {
  const cache = withNodes('a');
  const pod = makePod('p', { node: 'a', requests: { cpu: '1' } });
  cache.assume(pod);
  expect(cache.snapshot().get('a')?.requested.milliCpu).toBe(1000);
  cache.forget(pod);
  expect(cache.snapshot().get('a')?.requested.milliCpu).toBe(0);
  cache.assume(pod);
  cache.putPod(pod);
  cache.forget(pod);
  expect(names(cache, 'a')).toEqual(['p']);
});

it('counts a Pod on the node that the API says, not where it was assumed', () => {
  const cache = withNodes('a', 'b');
  cache.assume(makePod('p', { node: 'a' }));
  cache.putPod(makePod('p', { node: 'b' }));
  expect([names(cache, 'a'), names(cache, 'b')]).toEqual([[], ['p']]);
});

it('shares unchanged nodes between snapshots and copies changed ones', () => {
  const cache = withNodes('a', 'b');
  const before = cache.snapshot();
  const [a, b] = [before.get('a'), before.get('b')];
  cache.putPod(makePod('p', { node: 'a' }));
  expect(a?.pods).toHaveLength(0);
  const after = cache.snapshot();
  expect(after.get('a')).not.toBe(a);
  expect(after.get('b')).toBe(b);
  expect(after.get('a')?.pods).toHaveLength(1);
});

it('keeps Pods of a node that has not come yet, or comes back', () => {
  const cache = withNodes();
  cache.putPod(makePod('early', { node: 'a' }));
  expect(cache.snapshot().nodes).toHaveLength(0);
  cache.putNode(makeNode('a'));
  expect(names(cache, 'a')).toEqual(['early']);
  cache.removeNode('a');
  cache.putPod(makePod('late', { node: 'a' }));
  cache.putNode(makeNode('a'));
  expect(names(cache, 'a')?.sort()).toEqual(['early', 'late']);
});

it('lets zones take turns', () => {
  const cache = new SchedulerCache();
  for (const [name, zone] of [
    ['a1', 'a'],
    ['a2', 'a'],
    ['a3', 'a'],
    ['b1', 'b'],
  ] as const)
    cache.putNode(makeNode(name, { labels: { 'topology.kubernetes.io/zone': zone } }));
  expect(cache.snapshot().nodes.map(({ name }) => name)).toEqual(['a1', 'b1', 'a2', 'a3']);
});

it('knows on how many nodes an image is', () => {
  const cache = new SchedulerCache();
  cache.putNode(makeNode('a', { images: { 'nginx:latest': 1 } }));
  cache.putNode(makeNode('b', { images: { 'nginx:latest': 1 } }));
  cache.putNode(makeNode('b'));
  expect(cache.snapshot().nodesWithImage('nginx:latest')).toBe(1);
});

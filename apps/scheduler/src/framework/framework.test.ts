import { pluginRegistry } from '../plugins/registry';
import { makeNode, makePod } from '../testing/objects';
import { TestCluster } from '../testing/test-cluster';
import { CycleState } from './cycle-state';
import { failed, skip, unschedulable, type Status } from './status';
import type { Plugin } from './types';

const pod = makePod('p');

/** A profile that has only these plugins beside the ones that every profile needs. */
function withPlugins(...plugins: Plugin[]): TestCluster {
  const needed = pluginRegistry.filter(({ factory }) =>
    ['PrioritySort', 'DefaultBinder'].includes(factory.name),
  );
  const own = plugins.map((plugin) => ({ factory: { name: plugin.name, create: () => plugin }, weight: 1 }));
  return new TestCluster({ nodes: [makeNode('a'), makeNode('b')], registry: [...own, ...needed] });
}
const target = { node: 'a', signal: new AbortController().signal, trace: undefined };

it('asks no Filter of a plugin whose PreFilter skipped', () => {
  const plugin: Plugin = {
    name: 'X',
    preFilter: () => ({ status: skip }),
    filter: () => unschedulable('never'),
  };
  expect(withPlugins(plugin).verdicts(pod)).toEqual({ a: 'ok', b: 'ok' });
});

it('ends the attempt when a PreFilter refuses, with its reason for all nodes', () => {
  const plugin: Plugin = { name: 'X', preFilter: () => ({ status: unschedulable('not today') }) };
  expect(withPlugins(plugin).message(pod)).toBe('0/2 nodes are available: not today.');
});

it('filters only nodes that every PreFilter leaves, and says who narrowed them down to none', () => {
  const narrow = (name: string, node: string): Plugin => ({
    name,
    preFilter: () => ({ nodes: new Set([node]) }),
  });
  expect(withPlugins(narrow('X', 'a')).place(pod)).toMatchObject({ kind: 'found', node: 'a' });
  expect(withPlugins(narrow('X', 'a'), narrow('Y', 'b')).message(pod)).toBe(
    "0/2 nodes are available: node(s) didn't satisfy plugin(s) [X Y] simultaneously.",
  );
});

it('throws the error of a Filter instead of calling the node unfit', () => {
  const plugin: Plugin = { name: 'X', filter: () => failed(new Error('no idea')) };
  expect(() => withPlugins(plugin).place(pod)).toThrow('X: no idea');
});

it('adds up normalized scores by weight', () => {
  const plugin = (name: string, scores: Record<string, number>): Plugin => ({
    name,
    score: (_state, _pod, node) => scores[node.name] ?? 0,
    normalizeScore: (_state, _pod, all) => all.forEach((entry) => (entry.score *= 2)),
  });
  const placement = withPlugins(plugin('X', { a: 1, b: 5 }), plugin('Y', { a: 3, b: 1 })).place(pod);
  expect(placement).toMatchObject({
    kind: 'found',
    node: 'b',
    scores: { nodes: ['a', 'b'], totals: [8, 12] },
  });
});

it('lets the first PostFilter that helps decide, and joins what the others say', async () => {
  const says = (name: string, status: Status | undefined): Plugin => ({
    name,
    postFilter: () => ({ status, nominatedNode: status ? undefined : 'b' }),
  });
  const run = (...plugins: Plugin[]) =>
    withPlugins(...plugins).framework.postFilter(new CycleState(), pod, {} as never);
  expect(await run(says('X', unschedulable('no')), says('Y', undefined))).toEqual({
    status: undefined,
    nominatedNode: 'b',
  });
  const { status } = await run(says('X', unschedulable('no')), says('Y', unschedulable('neither')));
  expect(status?.reasons).toEqual(['no', 'neither']);
});

it('undoes reservations in reverse order', () => {
  const log: string[] = [];
  const plugin = (name: string): Plugin => ({
    name,
    reserve: () => void log.push(`reserve ${name}`),
    unreserve: () => void log.push(`unreserve ${name}`),
  });
  const { framework } = withPlugins(plugin('X'), plugin('Y'));
  framework.reserve(new CycleState(), pod, 'a');
  framework.unreserve(new CycleState(), pod, 'a');
  expect(log).toEqual(['reserve X', 'reserve Y', 'unreserve Y', 'unreserve X']);
});

it('binds with the first plugin that does not skip', async () => {
  const plugins: Plugin[] = [
    { name: 'X', bind: async () => skip },
    { name: 'Y', bind: async () => undefined },
  ];
  expect(await withPlugins(...plugins).framework.bind(new CycleState(), pod, target)).toBeUndefined();
});

describe('a Pod whose Permit plugin waits', () => {
  const waiting: Plugin = {
    name: 'X',
    permit: () => ({ status: { code: 'Wait', reasons: [] }, timeoutMs: 5000 }),
  };
  const start = () => {
    const cluster = withPlugins(waiting);
    expect(cluster.framework.permit(new CycleState(), pod, 'a')).toBeUndefined();
    return { cluster, verdict: cluster.framework.waitOnPermit(pod) };
  };

  it('goes on when it is allowed', async () => {
    const { cluster, verdict } = start();
    cluster.framework.waitingPods.allow('default/p', 'X');
    expect(await verdict).toBeUndefined();
    expect(cluster.clock.timers).toBe(0);
  });

  it('is refused when somebody rejects it', async () => {
    const { cluster, verdict } = start();
    cluster.framework.waitingPods.reject('default/p', { reason: 'preempted', plugin: 'Y' });
    expect(await verdict).toEqual({ code: 'Unschedulable', reasons: ['preempted'], plugin: 'Y' });
  });

  it('is refused when its time is over', async () => {
    const { cluster, verdict } = start();
    await cluster.clock.advance(5000);
    expect((await verdict)?.reasons).toEqual(['timeout waiting for plugin X']);
  });
});

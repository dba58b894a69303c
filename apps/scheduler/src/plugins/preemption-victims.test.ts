import type { PodDisruptionBudget } from '@tinkernetes/api';
import { podInfoOf } from '../cache/pod-info';
import { CycleState } from '../framework/cycle-state';
import { makeNode, makePod, type PodShape } from '../testing/objects';
import { TestCluster } from '../testing/test-cluster';
import { pickCandidate, selectVictims, type Candidate } from './preemption-victims';

const running = (name: string, priority: number, cpu: string, more: PodShape = {}) =>
  makePod(name, { node: 'a', requests: { cpu }, ...more, spec: { priority, ...more.spec } });
const budget = (allowed: number): PodDisruptionBudget =>
  ({
    metadata: { name: 'pdb', namespace: 'default' },
    spec: { selector: { matchLabels: { app: 'db' } } },
    status: { disruptionsAllowed: allowed },
  }) as unknown as PodDisruptionBudget;

function victimsFor(cpu: string, pods: ReturnType<typeof running>[], budgets: PodDisruptionBudget[] = []) {
  const cluster = new TestCluster({ nodes: [makeNode('a')], pods });
  const pod = makePod('new', { requests: { cpu }, spec: { priority: 100 } });
  const state = new CycleState();
  cluster.framework.preFilter(state, pod, cluster.cache.snapshot());
  const node = cluster.cache.snapshot().get('a');
  if (!node) throw new Error('node a is missing');
  const { framework } = cluster;
  const found = selectVictims({ pod, state, node, budgets }, framework);
  if ('code' in found) return found.reasons.join(', ');
  return { victims: found.victims.map((info) => info.pod.metadata.name), violated: found.violatedBudgets };
}

it.each([
  {
    rule: 'evicts no more than it must, the least important first',
    pods: [running('low', 1, '1'), running('middle', 2, '1'), running('high', 3, '2')],
    cpu: '1',
    expected: { victims: ['low'], violated: 0 },
  },
  {
    rule: 'never evicts what is as important',
    pods: [running('equal', 100, '4')],
    cpu: '1',
    expected: 'No preemption victims found for incoming pod',
  },
  {
    rule: 'says so when even an eviction of all would not do',
    pods: [running('low', 1, '1')],
    cpu: '5',
    expected: 'Insufficient cpu',
  },
  {
    rule: 'of equals evicts the one that started last',
    pods: [
      running('old', 1, '2', { startTime: '2026-01-01T00:00:00Z' }),
      running('young', 1, '2', { startTime: '2026-01-02T00:00:00Z' }),
    ],
    cpu: '2',
    expected: { victims: ['young'], violated: 0 },
  },
])('$rule', ({ pods, cpu, expected }) => {
  expect(victimsFor(cpu, pods)).toEqual(expected);
});

it('spares Pods that a disruption budget protects, while others will do', () => {
  const pods = [running('db', 1, '2', { labels: { app: 'db' } }), running('web', 2, '2')];
  expect(victimsFor('2', pods, [budget(0)])).toEqual({ victims: ['web'], violated: 0 });
  expect(victimsFor('4', pods, [budget(0)])).toEqual({ victims: ['web', 'db'], violated: 1 });
  expect(victimsFor('4', pods, [budget(1)])).toEqual({ victims: ['web', 'db'], violated: 0 });
});

const candidate = (node: string, priorities: number[], violatedBudgets = 0): Candidate => ({
  node,
  violatedBudgets,
  victims: priorities.map((priority, i) => podInfoOf(running(`${node}-${i}`, priority, '1'))),
});

it.each([
  {
    rule: 'fewest violated budgets',
    candidates: [candidate('x', [1], 1), candidate('y', [9, 9], 0)],
    best: 'y',
  },
  {
    rule: 'least important first victim',
    candidates: [candidate('x', [5]), candidate('y', [4, 4])],
    best: 'y',
  },
  {
    rule: 'smallest sum of priorities',
    candidates: [candidate('x', [5, 4]), candidate('y', [5, 1])],
    best: 'y',
  },
  { rule: 'fewest victims', candidates: [candidate('x', [5, -3]), candidate('y', [5])], best: 'y' },
])('chooses the node by $rule', ({ candidates, best }) => {
  expect(pickCandidate(candidates)?.node).toBe(best);
});

import type { Pod, PodDisruptionBudget } from '@tinkernetes/api';
import { budgetStatus, countsControllers, expectations, notDeleted } from './budget';
import { goSelector } from './go-selector';

const budgetOf = (
  spec: PodDisruptionBudget['spec'],
  status: PodDisruptionBudget['status'] = {},
): PodDisruptionBudget => ({
  metadata: { name: 'b', generation: 1 },
  spec,
  status,
});
const podsOf = (ready: number, notReady = 0): Pod[] =>
  Array.from({ length: ready + notReady }, (_, i) => ({
    metadata: { name: `p${i}` },
    spec: { containers: [] },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: i < ready ? 'True' : 'False' }] },
  }));

it.each([
  [{}, 3, { expected: 0, desired: 0 }],
  [{ minAvailable: 2 }, 3, { expected: 3, desired: 2 }],
  [{ minAvailable: '50%' }, 5, { expected: 5, desired: 3 }],
  [{ maxUnavailable: 1 }, 3, { expected: 3, desired: 2 }],
  [{ maxUnavailable: '30%' }, 5, { expected: 5, desired: 3 }],
  [{ maxUnavailable: '100%' }, 5, { expected: 5, desired: 0 }],
])('%j of %i replicas wants %j', (spec, replicas, expected) => {
  const input = { budget: budgetOf(spec), pods: podsOf(replicas), expectedByControllers: replicas };
  expect(expectations(input)).toEqual(expected);
});

it('allows what is healthy beyond what must stay, less what was just let go', () => {
  const input = { pods: podsOf(4, 1), expectedByControllers: 5, now: Date.parse('2026-01-01T00:01:00Z') };
  expect(budgetStatus({ ...input, budget: budgetOf({ minAvailable: 3 }) })).toMatchObject({
    currentHealthy: 4,
    disruptionsAllowed: 1,
  });
  const pending = budgetOf({ minAvailable: 3 }, { disruptedPods: { p0: '2026-01-01T00:00:00Z' } });
  expect(budgetStatus({ ...input, budget: pending })).toMatchObject({
    currentHealthy: 3,
    disruptionsAllowed: 0,
  });
  const late = { ...input, now: Date.parse('2026-01-01T00:05:00Z') };
  expect(budgetStatus({ ...late, budget: pending }).disruptionsAllowed).toBe(1);
});

it('names the Pods that were let go long ago and are still there', () => {
  const budget = budgetOf(
    { minAvailable: 1 },
    {
      disruptedPods: { p0: '2026-01-01T00:00:00Z', p1: '2026-01-01T00:04:00Z', gone: '2026-01-01T00:00:00Z' },
    },
  );
  const late = notDeleted({ budget, pods: podsOf(3), now: Date.parse('2026-01-01T00:05:00Z') });
  expect(late.map(({ metadata }) => metadata.name)).toEqual(['p0']);
});

it.each([
  [{ minAvailable: 1 }, false],
  [{ minAvailable: '1%' }, true],
  [{ maxUnavailable: 1 }, true],
])('%j counts what controllers ask for: %s', (spec, expected) => {
  expect(countsControllers(budgetOf(spec))).toBe(expected);
});

it.each([
  [
    { matchLabels: { app: 'web' } },
    '&LabelSelector{MatchLabels:map[string]string{app: web,},MatchExpressions:[]LabelSelectorRequirement{},}',
  ],
  [
    { matchExpressions: [{ key: 'app', operator: 'In' as const, values: ['a', 'b'] }] },
    '&LabelSelector{MatchLabels:map[string]string{},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:app,Operator:In,Values:[a b],},},}',
  ],
])('prints the selector %j as Go does', (selector, expected) => {
  expect(goSelector(selector)).toBe(expected);
});

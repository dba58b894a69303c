import type { Pod, PodDisruptionBudget, PodDisruptionBudgetStatus } from '@tinkernetes/api';
import { isPodActive, isPodReady, scaledValue, setCondition } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';

/** A Pod that the API server let go, but that is not being deleted after this time, counts as healthy again. */
const deletionTimeoutMs = 2 * 60_000;

export interface BudgetInput {
  budget: PodDisruptionBudget;
  pods: readonly Pod[];
  /** Replicas that the Pods' controllers ask for together; asked for where `countsControllers`. */
  expectedByControllers: number;
  now: number;
}

/** Whether the budget is a share of what the Pods' controllers ask for, and not a number of Pods. */
export const countsControllers = ({ spec }: PodDisruptionBudget): boolean =>
  spec.maxUnavailable !== undefined || typeof spec.minAvailable === 'string';

/** How many Pods should exist and how many of them must stay healthy. Percentages round up. */
export function expectations({ budget, pods, expectedByControllers }: Omit<BudgetInput, 'now'>): {
  expected: number;
  desired: number;
} {
  const { minAvailable, maxUnavailable } = budget.spec;
  if (maxUnavailable !== undefined) {
    const expected = expectedByControllers;
    return { expected, desired: Math.max(0, expected - scaledValue(maxUnavailable, expected, 'up')) };
  }
  if (typeof minAvailable === 'string') {
    const expected = expectedByControllers;
    return { expected, desired: scaledValue(minAvailable, expected, 'up') };
  }
  // One that asks for nothing allows nothing.
  return minAvailable === undefined
    ? { expected: 0, desired: 0 }
    : { expected: pods.length, desired: minAvailable };
}

/** Pods that were to be deleted, by what the API server wrote, and never were. */
export const notDeleted = ({ budget, pods, now }: Omit<BudgetInput, 'expectedByControllers'>): Pod[] =>
  pods.filter(({ metadata }) => {
    const time = budget.status?.disruptedPods?.[metadata.name];
    return time !== undefined && !metadata.deletionTimestamp && Date.parse(time) + deletionTimeoutMs <= now;
  });

/** Evictions that have been let through and not yet seen as deletions. */
function pendingDisruptions({ budget, pods, now }: BudgetInput): Record<string, string> {
  const byName = new Map(pods.map((pod) => [pod.metadata.name, pod]));
  return Object.fromEntries(
    Object.entries(budget.status?.disruptedPods ?? {}).filter(([name, time]) => {
      const pod = byName.get(name);
      return pod && !pod.metadata.deletionTimestamp && Date.parse(time) + deletionTimeoutMs > now;
    }),
  );
}

/** Source: k8s.io/kubernetes/pkg/controller/disruption updatePdbStatus. */
export function budgetStatus(input: BudgetInput): PodDisruptionBudgetStatus {
  const { budget, pods, now } = input;
  const { expected, desired } = expectations(input);
  const disruptedPods = pendingDisruptions(input);
  const healthy = pods.filter(
    (pod) => isPodActive(pod) && isPodReady(pod) && !(pod.metadata.name in disruptedPods),
  ).length;
  const allowed = expected <= 0 ? 0 : Math.max(0, healthy - desired);
  const condition = {
    type: 'DisruptionAllowed',
    status: allowed > 0 ? ('True' as const) : ('False' as const),
    reason: allowed > 0 ? 'SufficientPods' : 'InsufficientPods',
    message: '',
    observedGeneration: budget.metadata.generation,
    lastTransitionTime: formatTime(now),
  };
  return {
    currentHealthy: healthy,
    desiredHealthy: desired,
    expectedPods: expected,
    disruptionsAllowed: allowed,
    observedGeneration: budget.metadata.generation,
    ...(Object.keys(disruptedPods).length > 0 ? { disruptedPods } : {}),
    conditions: setCondition(budget.status?.conditions, condition),
  };
}

/** Milliseconds until the first pending eviction times out; undefined: none is pending. */
export function untilTimeout(status: PodDisruptionBudgetStatus, now: number): number | undefined {
  const times = Object.values(status.disruptedPods ?? {}).map((t) => Date.parse(t) + deletionTimeoutMs - now);
  return times.length > 0 ? Math.max(0, Math.min(...times)) : undefined;
}

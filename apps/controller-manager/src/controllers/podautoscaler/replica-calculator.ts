import type { Pod } from '@tinkernetes/api';
import { isPodReady } from '@tinkernetes/apimachinery';
import { groupPods, requestsOf, type PodSamples, type ReadinessRules } from './pod-groups';

/** Ratios of usage to target between 1 - down and 1 + up change nothing. */
export interface Tolerances {
  down: number;
  up: number;
}

const maxReplicas = 2 ** 31 - 1;

export interface Proposal {
  replicas: number;
  /** Current value, in thousandths: per Pod where the target is. */
  value: number;
  /** In percent of the requests. */
  utilization?: number;
}

export interface PodMetricTarget {
  pods: readonly Pod[];
  samples: PodSamples;
  currentReplicas: number;
  tolerances: Tolerances;
  rules: ReadinessRules;
  resource?: string;
}

const isWithin = (ratio: number, { down, up }: Tolerances): boolean => 1 - down <= ratio && ratio <= 1 + up;
const ceil = (count: number): number => Math.min(Math.ceil(count), maxReplicas);
const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0);

/** Of a resource's use in percent of what the Pods ask for. */
export function utilizationReplicas(
  target: PodMetricTarget & { resource: string; container?: string; percent: number },
): Proposal {
  const { pods, resource, container, percent } = target;
  let requests: ReadonlyMap<string, number> | undefined;
  return podMetricReplicas(target, {
    measure: (values) => {
      requests ??= requestsOf(pods, resource, container);
      return utilizationOf(values, requests, percent);
    },
    // As if the Pod used all that it asks for, or the target where that is more.
    fallback: (pod) => Math.trunc(((requests?.get(pod) ?? 0) * Math.max(100, percent)) / 100),
  });
}

/** Of a value per Pod. */
export const averageReplicas = (target: PodMetricTarget & { average: number }): Proposal =>
  podMetricReplicas(target, {
    measure: (values) => {
      const value = Math.trunc(sum(values.values()) / values.size);
      return { ratio: value / target.average, value };
    },
    fallback: () => target.average,
  });

type Values = ReadonlyMap<string, number>;
interface Measured {
  ratio: number;
  value: number;
  utilization?: number;
}

function utilizationOf(values: Values, requests: Values, percent: number): Measured {
  const known = [...values].filter(([pod]) => requests.has(pod));
  const requested = sum(known.map(([pod]) => requests.get(pod) ?? 0));
  if (requested === 0) throw new Error('no metrics returned matched known pods');
  const used = sum(known.map(([, value]) => value));
  const utilization = Math.trunc((used * 100) / requested);
  return { ratio: utilization / percent, utilization, value: Math.trunc(used / known.length) };
}

interface Strategy {
  measure(values: Values): Measured;
  /** What a Pod without a sample is taken to use when the others say "fewer". */
  fallback(pod: string): number;
}

/**
 * How many replicas bring the metric to its target. Pods without samples are assumed to use what makes the change
 * smaller, and never turn its direction. Source: pkg/controller/podautoscaler/replica_calculator.go.
 */
function podMetricReplicas(
  { pods, samples, currentReplicas, tolerances, rules, resource }: PodMetricTarget,
  { measure, fallback }: Strategy,
): Proposal {
  if (pods.length === 0) throw new Error('no pods returned by selector while calculating replica count');
  const { readyCount, unready, missing, ignored } = groupPods(pods, samples, { resource, rules });
  const values = new Map(
    [...samples].flatMap(([pod, { value }]) =>
      ignored.has(pod) || unready.has(pod) ? [] : [[pod, value] as const],
    ),
  );
  if (values.size === 0) throw new Error('did not receive metrics for targeted pods (pods might be unready)');

  const { ratio, value, utilization } = measure(values);
  const propose = (replicas: number): Proposal => ({ replicas, value, utilization });
  const countsUnready = unready.size > 0 && ratio > 1;
  if (!countsUnready && missing.size === 0)
    return propose(isWithin(ratio, tolerances) ? currentReplicas : ceil(ratio * readyCount));

  for (const pod of missing) {
    if (ratio < 1) values.set(pod, fallback(pod));
    else if (ratio > 1) values.set(pod, 0);
  }
  if (countsUnready) for (const pod of unready) values.set(pod, 0);
  const again = measure(values).ratio;
  const turns = (ratio < 1 && again > 1) || (ratio > 1 && again < 1);
  if (isWithin(again, tolerances) || turns) return propose(currentReplicas);
  const replicas = ceil(again * values.size);
  const overshoots = (again < 1 && replicas > currentReplicas) || (again > 1 && replicas < currentReplicas);
  return propose(overshoots ? currentReplicas : replicas);
}

export interface ValueTarget {
  /** Of the object or the external system, in thousandths. */
  value: number;
  tolerances: Tolerances;
}

/** Of one value for all Pods; with no replicas, as many as the ratio says. */
export function valueReplicas({
  value,
  target,
  pods,
  currentReplicas,
  tolerances,
}: ValueTarget & { target: number; pods: readonly Pod[]; currentReplicas: number }): Proposal {
  const ratio = value / target;
  if (currentReplicas === 0) return { replicas: ceil(ratio), value };
  if (isWithin(ratio, tolerances)) return { replicas: currentReplicas, value };
  if (pods.length === 0)
    throw new Error(
      'unable to calculate ready pods: no pods returned by selector while calculating replica count',
    );
  const ready = pods.filter((pod) => pod.status?.phase === 'Running' && isPodReady(pod)).length;
  return { replicas: ceil(ratio * ready), value };
}

/** Of one value that is divided among the Pods. */
export function sharedValueReplicas({
  value,
  average,
  statusReplicas,
  tolerances,
}: ValueTarget & { average: number; statusReplicas: number }): Proposal {
  const ratio = value / (average * statusReplicas);
  return {
    replicas: isWithin(ratio, tolerances) ? statusReplicas : ceil(value / average),
    value: statusReplicas === 0 ? 0 : Math.ceil(value / statusReplicas),
  };
}

import type { Endpoint, EndpointSlice } from '@tinkernetes/api';
import { exponentialBuckets, type Metrics } from '@tinkernetes/component-base';
import { sameStatus } from '../shared/same-status';
import { maxEndpointsPerSlice, type EndpointGroup, type SlicePlan } from './plan';

/** What one owner's slices are and would be at best. */
interface Sizes {
  endpoints: number;
  slices: number;
  desiredSlices: number;
}

export interface SliceMetrics {
  /** A plan was made of what exists and what is wanted. */
  planned(key: string, input: PlannedSlices): void;
  /** The owner is gone. */
  forget(key: string): void;
}

export interface PlannedSlices {
  existing: readonly EndpointSlice[];
  wanted: readonly EndpointGroup[];
  plan: SlicePlan;
}

export interface SliceMetricsOptions {
  prefix: string;
  /** Whose slices they are: `Service`, `Endpoints`. */
  owner: string;
  /** Also counts endpoints that stay and change. */
  countsUpdates?: boolean;
}

/** Metrics that the controllers of EndpointSlices share, under their own prefixes. Source: k8s.io/endpointslice/metrics. */
export function createSliceMetrics(
  metrics: Metrics,
  { prefix, owner, countsUpdates = false }: SliceMetricsOptions,
): SliceMetrics {
  const perSync = (what: string) =>
    metrics.histogram(
      `${prefix}_endpoints_${what}_per_sync`,
      `Number of endpoints ${what} on each ${owner} sync`,
      { buckets: exponentialBuckets(2, 2, 15) },
    );
  const added = perSync('added');
  const removed = perSync('removed');
  const updated = countsUpdates ? perSync('updated') : undefined;
  const changes = metrics.counter(`${prefix}_changes`, 'Number of EndpointSlice changes', ['operation']);
  const sizes = new Map<string, Sizes>();
  const total = (name: string, help: string, of: (size: Sizes) => number) =>
    metrics
      .gauge(`${prefix}_${name}`, help)
      .collect(() => [...sizes.values()].reduce((sum, size) => sum + of(size), 0));
  total('endpoints_desired', 'Number of endpoints desired', ({ endpoints }) => endpoints);
  total('num_endpoint_slices', 'Number of EndpointSlices', ({ slices }) => slices);
  total(
    'desired_endpoint_slices',
    'Number of EndpointSlices that would exist with perfect endpoint allocation',
    ({ desiredSlices }) => desiredSlices,
  );
  return {
    planned(key, { existing, wanted, plan }) {
      const before = byIdentity(existing.flatMap(({ endpoints }) => endpoints ?? []));
      const after = byIdentity(wanted.flatMap(({ endpoints }) => endpoints));
      const kept = [...after].filter(([id]) => before.has(id));
      added.observe(after.size - kept.length);
      removed.observe(before.size - kept.length);
      updated?.observe(kept.filter(([id, endpoint]) => !sameStatus(before.get(id), endpoint)).length);
      for (const operation of ['create', 'update', 'delete'] as const)
        if (plan[operation].length > 0) changes.inc({ operation }, plan[operation].length);
      sizes.set(key, {
        endpoints: after.size,
        slices: existing.length + plan.create.length - plan.delete.length,
        desiredSlices: wanted.reduce(
          (sum, { endpoints }) => sum + Math.ceil(endpoints.length / maxEndpointsPerSlice),
          0,
        ),
      });
    },
    forget: (key) => void sizes.delete(key),
  };
}

const byIdentity = (endpoints: readonly Endpoint[]): Map<string, Endpoint> =>
  new Map(endpoints.map((endpoint) => [endpoint.targetRef?.uid ?? endpoint.addresses.join(), endpoint]));

import { exponentialBuckets, type Metrics } from '@tinkernetes/component-base';
import type { CidrSet } from './cidr-set';

const labelNames = ['clusterCIDR'];

/** Source: pkg/controller/nodeipam/ipam/cidrset/metrics.go, its misspelt name included. */
export function measureCidrSets(metrics: Metrics, sets: readonly CidrSet[]): void {
  const prefix = 'node_ipam_controller';
  const allocations = metrics.counter(
    `${prefix}_cidrset_cidrs_allocations_total`,
    'Counter measuring total number of CIDR allocations.',
    labelNames,
  );
  const releases = metrics.counter(
    `${prefix}_cidrset_cidrs_releases_total`,
    'Counter measuring total number of CIDR releases.',
    labelNames,
  );
  const tries = metrics.histogram(
    `${prefix}_cidrset_allocation_tries_per_request`,
    'Number of blocks looked at before one was found free',
    { labelNames, buckets: exponentialBuckets(1, 5, 5) },
  );
  const each = (valueOf: (set: CidrSet) => number) => () =>
    sets.map((set) => [{ clusterCIDR: String(set) }, valueOf(set)] as const);
  metrics
    .gauge(`${prefix}_cirdset_max_cidrs`, 'Maximum number of CIDRs that can be allocated.', labelNames)
    .collectEach(each(({ capacity }) => capacity));
  metrics
    .gauge(`${prefix}_cidrset_usage_cidrs`, 'Gauge measuring percentage of allocated CIDRs.', labelNames)
    .collectEach(each(({ taken, capacity }) => taken / capacity));
  for (const set of sets) {
    const labels = { clusterCIDR: String(set) };
    set.observer = {
      allocated(triesBefore) {
        allocations.inc(labels);
        tries.observe(triesBefore, labels);
      },
      released: () => releases.inc(labels),
    };
  }
}

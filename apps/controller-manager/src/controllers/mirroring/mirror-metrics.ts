import { exponentialBuckets, type Metrics } from '@tinkernetes/component-base';

/** What only the mirroring controller measures. Source: pkg/controller/endpointslicemirroring/metrics. */
export function createMirrorMetrics(
  metrics: Metrics,
  prefix: string,
): { synced(seconds: number, skippedAddresses: number): void } {
  const duration = metrics.histogram(
    `${prefix}_endpoints_sync_duration`,
    'Duration of syncEndpoints() in seconds',
    { buckets: exponentialBuckets(0.001, 2, 15) },
  );
  const skipped = metrics.histogram(
    `${prefix}_addresses_skipped_per_sync`,
    'Number of addresses skipped on each Endpoints sync due to being invalid or exceeding MaxEndpointsPerSubset',
    { buckets: exponentialBuckets(2, 2, 15) },
  );
  return {
    synced(seconds, skippedAddresses) {
      duration.observe(seconds);
      skipped.observe(skippedAddresses);
    },
  };
}

import type { Metrics } from '@tinkernetes/component-base';

/** One queue's metrics, under upstream's names (k8s.io/component-base/metrics/prometheus/workqueue). */
export interface QueueMetrics {
  added(): void;
  depth(depth: number): void;
  retried(): void;
  started(waitedMs: number): void;
  finished(workedMs: number): void;
}

const buckets = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000];

const silent: QueueMetrics = { added() {}, depth() {}, retried() {}, started() {}, finished() {} };

export function createQueueMetrics(metrics: Metrics | undefined): (name: string) => QueueMetrics {
  if (!metrics) return () => silent;
  const labelNames = ['name'];
  const depth = metrics.gauge('workqueue_depth', 'Current depth of workqueue', labelNames);
  const adds = metrics.counter(
    'workqueue_adds_total',
    'Total number of adds handled by workqueue',
    labelNames,
  );
  const retries = metrics.counter(
    'workqueue_retries_total',
    'Total number of retries handled by workqueue',
    labelNames,
  );
  const waited = metrics.histogram(
    'workqueue_queue_duration_seconds',
    'How long in seconds an item stays in workqueue before being requested',
    { labelNames, buckets },
  );
  const worked = metrics.histogram(
    'workqueue_work_duration_seconds',
    'How long in seconds processing an item from workqueue takes',
    { labelNames, buckets },
  );
  return (name) => ({
    added: () => adds.inc({ name }),
    depth: (value) => depth.set(value, { name }),
    retried: () => retries.inc({ name }),
    started: (ms) => waited.observe(ms / 1000, { name }),
    finished: (ms) => worked.observe(ms / 1000, { name }),
  });
}

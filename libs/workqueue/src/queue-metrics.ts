import type { Clock, Metrics } from '@tinkernetes/component-base';

/** One queue's metrics, under upstream's names (k8s.io/component-base/metrics/prometheus/workqueue). */
export interface QueueMetrics {
  added(): void;
  depth(depth: number): void;
  retried(): void;
  /** Returns what is to be called when the run has ended. */
  started(waitedMs: number): () => void;
}

const buckets = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000];

const silent: QueueMetrics = { added() {}, depth() {}, retried() {}, started: () => () => undefined };

export function createQueueMetrics(
  metrics: Metrics | undefined,
  clock: Clock,
): (name: string) => QueueMetrics {
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
  /** By queue, when each run that goes on began. */
  const running = new Map<string, Set<{ at: number }>>();
  const agesOf = (runs: Iterable<{ at: number }>) =>
    [...runs].map(({ at }) => (clock.monotonic() - at) / 1000);
  const perQueue = (value: (ages: readonly number[]) => number) =>
    [...running].map(([name, runs]) => [{ name }, value(agesOf(runs))] as const);
  metrics
    .gauge(
      'workqueue_unfinished_work_seconds',
      'How many seconds of work has been done that is in progress and has not been observed by work_duration',
      labelNames,
    )
    .collectEach(() => perQueue((ages) => ages.reduce((a, b) => a + b, 0)));
  metrics
    .gauge(
      'workqueue_longest_running_processor_seconds',
      'How many seconds has the longest running processor for workqueue been running',
      labelNames,
    )
    .collectEach(() => perQueue((ages) => Math.max(0, ...ages)));
  return (name) => ({
    added: () => adds.inc({ name }),
    depth: (value) => depth.set(value, { name }),
    retried: () => retries.inc({ name }),
    started(waitedMs) {
      waited.observe(waitedMs / 1000, { name });
      const run = { at: clock.monotonic() };
      const runs = running.get(name) ?? new Set();
      running.set(name, runs.add(run));
      return () => {
        runs.delete(run);
        worked.observe((clock.monotonic() - run.at) / 1000, { name });
      };
    },
  });
}

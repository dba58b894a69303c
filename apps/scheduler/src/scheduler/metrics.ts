import type { Metrics } from '@tinkernetes/component-base';
import type { QueueName, SchedulingQueue } from '../queue/scheduling-queue';

const exponential = (start: number, factor: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => start * factor ** i);

export type SchedulerMetrics = ReturnType<typeof createSchedulerMetrics>;

/** Families under upstream's names. Source: pkg/scheduler/metrics. */
export function createSchedulerMetrics(metrics: Metrics) {
  const latency = exponential(0.001, 2, 15);
  const pending = metrics.gauge('scheduler_pending_pods', 'Number of pending pods, by the queue type.', [
    'queue',
  ]);
  return {
    attempts: metrics.counter(
      'scheduler_schedule_attempts_total',
      'Number of attempts to schedule pods, by the result.',
      ['result', 'profile'],
    ),
    attemptDuration: metrics.histogram(
      'scheduler_scheduling_attempt_duration_seconds',
      'Scheduling attempt latency in seconds (scheduling algorithm + binding)',
      { labelNames: ['result', 'profile'], buckets: latency },
    ),
    algorithmDuration: metrics.histogram(
      'scheduler_scheduling_algorithm_duration_seconds',
      'Scheduling algorithm latency in seconds',
      { buckets: latency },
    ),
    podAttempts: metrics.histogram(
      'scheduler_pod_scheduling_attempts',
      'Number of attempts to successfully schedule a pod.',
      { buckets: exponential(1, 2, 5) },
    ),
    podDuration: metrics.histogram(
      'scheduler_pod_scheduling_sli_duration_seconds',
      'E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue.',
      { labelNames: ['attempts'], buckets: exponential(0.01, 2, 20) },
    ),
    incoming: metrics.counter(
      'scheduler_queue_incoming_pods_total',
      'Number of pods added to scheduling queues by event and queue type.',
      ['queue', 'event'],
    ),
    cacheSize: metrics.gauge(
      'scheduler_cache_size',
      'Number of nodes, pods, and assumed pods in the scheduler cache.',
      ['type'],
    ),
    preemptionAttempts: metrics.counter(
      'scheduler_preemption_attempts_total',
      'Total preemption attempts in the cluster till now',
    ),
    preemptionVictims: metrics.histogram(
      'scheduler_preemption_victims',
      'Number of selected preemption victims',
      {
        buckets: exponential(1, 2, 7),
      },
    ),
    permitWait: metrics.histogram(
      'scheduler_permit_wait_duration_seconds',
      'Duration of waiting on permit.',
      { labelNames: ['result'], buckets: latency },
    ),
    extensionPoint: metrics.histogram(
      'scheduler_framework_extension_point_duration_seconds',
      'Latency for running all plugins of a specific extension point.',
      {
        labelNames: ['extension_point', 'status', 'profile'],
        // From 0.1 ms to 200 ms.
        buckets: exponential(0.0001, 2, 12),
      },
    ),
    showPending(queue: SchedulingQueue): void {
      for (const [name, count] of Object.entries(queue.counts()) as [QueueName, number][])
        pending.set(count, { queue: name });
    },
  };
}

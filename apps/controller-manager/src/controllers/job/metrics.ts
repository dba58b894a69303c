import type { Job } from '@tinkernetes/api';
import type { Metrics } from '@tinkernetes/component-base';

export interface JobMetrics {
  synced(job: Job, result: 'success' | 'error', ms: number): void;
  finished(job: Job, result: 'succeeded' | 'failed', reason: string): void;
}

/** Source: k8s.io/kubernetes/pkg/controller/job/metrics. */
export function createJobMetrics(metrics: Metrics): JobMetrics {
  const labelNames = ['completion_mode', 'result', 'action'];
  const syncs = metrics.counter('job_controller_job_syncs_total', 'The number of job syncs', labelNames);
  const duration = metrics.histogram(
    'job_controller_job_sync_duration_seconds',
    'The time it took to sync a job',
    {
      labelNames,
      buckets: Array.from({ length: 15 }, (_, i) => 0.004 * 2 ** i),
    },
  );
  const finished = metrics.counter('job_controller_jobs_finished_total', 'The number of finished jobs', [
    'completion_mode',
    'result',
    'reason',
  ]);
  const mode = (job: Job) => job.spec.completionMode ?? 'NonIndexed';
  return {
    synced(job, result, ms) {
      const labels = { completion_mode: mode(job), result, action: 'reconciling' };
      syncs.inc(labels);
      duration.observe(ms / 1000, labels);
    },
    finished: (job, result, reason) => finished.inc({ completion_mode: mode(job), result, reason }),
  };
}

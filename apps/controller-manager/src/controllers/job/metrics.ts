import type { Job, Pod } from '@tinkernetes/api';
import { isPodTerminal } from '@tinkernetes/apimachinery';
import { exponentialBuckets, type Metrics } from '@tinkernetes/component-base';
import type { Accounting } from './accounting';
import { parseIndexes } from './indexes';
import { isFailed, isSucceeded, isTracked, onlyReplacesFailed } from './pods';

/** What a look at a Job did: waited for its own Pods, counted, or made or stopped some. */
export type SyncAction = 'reconciling' | 'tracking' | 'pods_created' | 'pods_deleted';
type Result = 'succeeded' | 'failed';

export interface JobMetrics {
  synced(job: Job, sync: { result: 'success' | 'error'; action: SyncAction; ms: number }): void;
  finished(job: Job, result: Result, reason: string): void;
  /** Pods have been counted and let go for good. */
  released(counted: { job: Job; accounting: Accounting }, pods: readonly Pod[]): void;
  /** A Pod that ended is there with its finalizer, or has lost it. */
  trackedPod(before: Pod | undefined, after: Pod | undefined): void;
  podCreated(job: Job, status: Result): void;
  /** A Job that somebody else looks after. */
  seenForeign(job: Job): void;
}

const prefix = 'job_controller';

/** Source: k8s.io/kubernetes/pkg/controller/job/metrics. */
export function createJobMetrics(metrics: Metrics): JobMetrics {
  const counter = (name: string, help: string, labels: readonly string[]) =>
    metrics.counter(`${prefix}_${name}`, help, labels);
  const syncLabels = ['completion_mode', 'result', 'action'];
  const syncs = counter('job_syncs_total', 'The number of job syncs', syncLabels);
  const duration = metrics.histogram(
    `${prefix}_job_sync_duration_seconds`,
    'The time it took to sync a job',
    { labelNames: syncLabels, buckets: exponentialBuckets(0.004, 2, 15) },
  );
  const finished = counter('jobs_finished_total', 'The number of finished jobs', [
    'completion_mode',
    'result',
    'reason',
  ]);
  const pods = counter('job_pods_finished_total', 'The number of finished Pods that are fully tracked', [
    'completion_mode',
    'result',
  ]);
  const handled = counter(
    'pod_failures_handled_by_failure_policy_total',
    'The number of failed Pods handled by failure policy, by the action of the rule that matched: FailJob, Ignore or Count.',
    ['action'],
  );
  const tracked = counter(
    'terminated_pods_tracking_finalizer_total',
    'The number of terminated pods (phase=Failed|Succeeded) that have the finalizer batch.kubernetes.io/job-tracking. The event label can be "add" or "delete".',
    ['event'],
  );
  const indexes = counter(
    'job_finished_indexes_total',
    'The number of finished indexes, by status ("succeeded", "failed") and backoffLimit ("perIndex", "global").',
    ['status', 'backoffLimit'],
  );
  const creations = counter(
    'job_pods_creation_total',
    'The number of Pods created by the Job controller, by the reason for it and by whether it succeeded.',
    ['reason', 'status'],
  );
  const foreign = counter(
    'jobs_by_external_controller_total',
    'The number of Jobs managed by an external controller',
    ['controller_name'],
  );
  const mode = (job: Job) => job.spec.completionMode ?? 'NonIndexed';
  const countIndexes = (job: Job, { completedIndexes, failedIndexes }: Accounting): void => {
    const backoffLimit = job.spec.backoffLimitPerIndex === undefined ? 'global' : 'perIndex';
    const count = (status: Result, named: string | undefined, now: number) => {
      const more = now - parseIndexes(named, job.spec.completions).length;
      if (more > 0) indexes.inc({ status, backoffLimit }, more);
    };
    count('succeeded', job.status?.completedIndexes, completedIndexes.size);
    count('failed', job.status?.failedIndexes, failedIndexes.size);
  };
  const isEndedAndTracked = (pod: Pod | undefined) =>
    pod !== undefined && isPodTerminal(pod) && isTracked(pod);
  return {
    synced(job, { result, action, ms }) {
      const labels = { completion_mode: mode(job), result, action };
      syncs.inc(labels);
      duration.observe(ms / 1000, labels);
    },
    finished: (job, result, reason) => finished.inc({ completion_mode: mode(job), result, reason }),
    released({ job, accounting }, released) {
      for (const pod of released) {
        const result = isSucceeded(pod) ? 'succeeded' : isFailed(job, pod) ? 'failed' : undefined;
        if (result) pods.inc({ completion_mode: mode(job), result });
        const outcome = job.spec.podFailurePolicy && accounting.outcomes.get(pod.metadata.uid ?? '');
        if (outcome) handled.inc({ action: outcome.action });
      }
      countIndexes(job, accounting);
    },
    trackedPod(before, after) {
      const [was, is] = [isEndedAndTracked(before), isEndedAndTracked(after)];
      if (was !== is) tracked.inc({ event: is ? 'add' : 'delete' });
    },
    podCreated(job, status) {
      const isReplacement = (job.status?.failed ?? 0) > 0 || (job.status?.terminating ?? 0) > 0;
      const kind = onlyReplacesFailed(job) ? 'recreate_failed' : 'recreate_terminating_or_failed';
      creations.inc({ reason: isReplacement ? kind : 'new', status });
    },
    seenForeign: (job) => foreign.inc({ controller_name: job.spec.managedBy ?? '' }),
  };
}

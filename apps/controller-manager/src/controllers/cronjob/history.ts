import type { CronJob, Job } from '@tinkernetes/api';
import { isJobFinished } from '../job/conditions';

/** Finished Jobs beyond the history limits, the oldest first. */
export function surplusHistory(cronJob: CronJob, jobs: readonly Job[]): Job[] {
  const { successfulJobsHistoryLimit = 3, failedJobsHistoryLimit = 1 } = cronJob.spec;
  const surplus = (end: 'Complete' | 'Failed', limit: number) => {
    const ended = jobs.filter((job) => isJobFinished(job) === end && !job.metadata.deletionTimestamp);
    return ended.sort(byStart).slice(0, Math.max(0, ended.length - limit));
  };
  return [...surplus('Complete', successfulJobsHistoryLimit), ...surplus('Failed', failedJobsHistoryLimit)];
}

const byStart = (a: Job, b: Job): number =>
  (a.status?.startTime ?? '').localeCompare(b.status?.startTime ?? '') ||
  a.metadata.name.localeCompare(b.metadata.name);

import type { CronJob, CronJobStatus, Job, ObjectReference } from '@tinkernetes/api';
import { isJobFinished } from '../job/conditions';
import { referenceOf, scheduledAt } from './scheduled-job';

export interface CronJobEvent {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

/** Jobs that the status lists and the cache does not show. */
export const unseenActive = ({ status }: CronJob, jobs: readonly Job[]): ObjectReference[] =>
  (status?.active ?? []).filter(({ uid }) => !jobs.some((job) => job.metadata.uid === uid));

/**
 * The status as the Jobs make it: ended ones and those known to be gone leave the active list, successes are
 * remembered. Source: cronjob syncCronJob.
 */
export function observeJobs(
  cronJob: CronJob,
  jobs: readonly Job[],
  gone: ReadonlySet<string>,
): { status: CronJobStatus; events: CronJobEvent[] } {
  const before = cronJob.status?.active ?? [];
  const events: CronJobEvent[] = [];
  const active: ObjectReference[] = [];
  for (const reference of before) {
    const job = jobs.find(({ metadata }) => metadata.uid === reference.uid);
    const end = job && isJobFinished(job);
    if (end) events.push(completed(reference, end));
    else if (gone.has(reference.uid ?? '')) events.push(missing(reference));
    else active.push(reference);
  }
  for (const job of jobs) {
    if (isJobFinished(job) || before.some(({ uid }) => uid === job.metadata.uid)) continue;
    // Our own Job may be seen before the status that lists it was written.
    if (job.metadata.annotations?.[scheduledAt]) active.push(referenceOf(job));
    else events.push(unexpected(job));
  }
  const lastSuccessfulTime = latestSuccess(cronJob, jobs);
  const status = { ...cronJob.status, active, ...(lastSuccessfulTime ? { lastSuccessfulTime } : {}) };
  return { status, events };
}

const completed = ({ name }: ObjectReference, end: string): CronJobEvent => ({
  type: 'Normal',
  reason: 'SawCompletedJob',
  message: `Saw completed job: ${name}, condition: ${end}`,
});
const missing = ({ name }: ObjectReference): CronJobEvent => ({
  type: 'Normal',
  reason: 'MissingJob',
  message: `Active job went missing: ${name}`,
});
const unexpected = ({ metadata }: Job): CronJobEvent => ({
  type: 'Warning',
  reason: 'UnexpectedJob',
  message: `Saw a job that the controller did not create or forgot: ${metadata.name}`,
});

const latestSuccess = ({ status }: CronJob, jobs: readonly Job[]): string | undefined =>
  jobs
    .filter((job) => isJobFinished(job) === 'Complete')
    .map((job) => job.status?.completionTime)
    .reduce((latest, time) => (time && time > (latest ?? '') ? time : latest), status?.lastSuccessfulTime);

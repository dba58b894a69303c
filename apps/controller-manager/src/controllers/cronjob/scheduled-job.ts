import { CronJobs, type CronJob, type CronJobStatus, type Job, type ObjectReference } from '@tinkernetes/api';
import { formatTime } from '@tinkernetes/component-base';
import { controllerRefOf } from '@tinkernetes/controller';

/** Says in a Job what time it was made for. */
export const scheduledAt = 'batch.kubernetes.io/cronjob-scheduled-timestamp';

/** The Job may have been made by a run that could not write down that it did: its own time is what was scheduled then. */
export function withScheduleTime(status: CronJobStatus, made: Job): CronJobStatus {
  const at = Date.parse(made.metadata.annotations?.[scheduledAt] ?? '');
  return at > Date.parse(status.lastScheduleTime ?? '1970-01-01T00:00:00Z')
    ? { ...status, lastScheduleTime: formatTime(at) }
    : status;
}

/** The status after a Job was made for a scheduled time. */
export function withMadeJob(status: CronJobStatus, job: Job, at: number): CronJobStatus {
  const { active = [] } = status;
  const isListed = active.some(({ uid }) => uid === job.metadata.uid);
  return {
    ...status,
    active: isListed ? active : [...active, referenceOf(job)],
    lastScheduleTime: formatTime(at),
  };
}

/** One name a scheduled minute: a second attempt for the same time can't make a second Job. */
export const jobName = (cronJob: CronJob, at: number): string =>
  `${cronJob.metadata.name}-${Math.floor(at / 60_000)}`;

/** The Job of one scheduled time. Source: cronjob getJobFromTemplate2. */
export function jobOf(cronJob: CronJob, at: number): Job {
  const { metadata, spec } = cronJob.spec.jobTemplate;
  return {
    metadata: {
      name: jobName(cronJob, at),
      namespace: cronJob.metadata.namespace,
      labels: { ...metadata?.labels },
      annotations: { ...metadata?.annotations, [scheduledAt]: timeIn(at, cronJob.spec.timeZone) },
      ownerReferences: [controllerRefOf(cronJob, CronJobs)],
    },
    spec: spec ?? { template: {} },
  };
}

export const referenceOf = ({ metadata }: Job): ObjectReference => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  name: metadata.name,
  namespace: metadata.namespace,
  uid: metadata.uid,
  resourceVersion: metadata.resourceVersion,
});

/** As Go's time.RFC3339 prints it in a time zone; without one, in UTC. */
function timeIn(at: number, timeZone = 'UTC'): string {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  const name = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [offset, sign, hours, minutes] = /([+-])(\d\d):(\d\d)/.exec(name) ?? [];
  const ms = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1);
  // No offset is written Z, also in a zone that has one in summer.
  if (!offset || ms === 0) return formatTime(at);
  return formatTime(at + ms).replace('Z', offset);
}

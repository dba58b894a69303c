import {
  CronJobs,
  Jobs,
  type CronJob,
  type CronJobStatus,
  type Job,
  type ObjectReference,
} from '@tinkernetes/api';
import { ignoreNotFound, isAlreadyExists, isNotFound } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import { controllerRefOf, type ReconcileResult, type Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { isJobFinished } from '../job/conditions';
import { controllerUidIndex, indexByControllerUid } from '../shared/owner-index';
import { watchOwned } from '../shared/owned-objects';
import { isNamespaceTerminating } from '../shared/namespace-terminating';
import { sameStatus } from '../shared/same-status';
import { watchObjects } from '../shared/watch-objects';
import { surplusHistory } from './history';
import type { Schedule } from './schedule';

const scheduledAt = 'batch.kubernetes.io/cronjob-scheduled-timestamp';
/** Late by this much is still in time: the controller itself needs a moment. */
const slackMs = 100;

/**
 * Makes Jobs at scheduled times. Watches CronJobs and Jobs; writes Jobs and the CronJob's status.
 * Source: k8s.io/kubernetes/pkg/controller/cronjob.
 */
export function startCronJobController(context: ControllerContext): RunnableController {
  const queue = context.queues.create('cronjob');
  const reconciler = new CronJobController(context, (key) => queue.add(key));
  return queueController({
    context,
    queue,
    reconciler,
    concurrency: context.flags['concurrent-cron-job-syncs'],
  });
}

class CronJobController implements Reconciler {
  readonly name = 'cronjob-controller';
  private readonly cronJobs;
  private readonly jobs;
  private readonly skew;

  constructor(
    private readonly context: ControllerContext,
    enqueue: (key: string) => void,
  ) {
    this.skew = context.metrics.histogram(
      'cronjob_controller_job_creation_skew_duration_seconds',
      'Time between when a cronjob is scheduled to be run, and when the corresponding job is created',
      { buckets: Array.from({ length: 10 }, (_, i) => 2 ** i) },
    );
    this.cronJobs = context.informers.for(CronJobs);
    this.jobs = context.informers.for(Jobs);
    indexByControllerUid(this.jobs);
    watchObjects(this.cronJobs, enqueue);
    watchOwned({ children: this.jobs, owners: this.cronJobs, enqueue });
  }

  async reconcile(key: string): Promise<ReconcileResult | void> {
    const cronJob = this.cronJobs.lister.getByKey(key);
    if (!cronJob || cronJob.metadata.deletionTimestamp) return;
    const jobs = this.jobs.lister.byIndex(controllerUidIndex, cronJob.metadata.uid ?? '');
    await this.cleanUp(cronJob, jobs);
    const tracked = this.observeJobs(cronJob, jobs);
    const { status, wait } = await this.startDue(cronJob, tracked, jobs);
    await this.writeStatus(cronJob, status);
    return wait === undefined ? undefined : { requeueAfterMs: Math.max(0, wait) + slackMs };
  }

  /** The status as the Jobs that exist make it: ended ones leave the active list, successes are remembered. */
  private observeJobs(cronJob: CronJob, jobs: readonly Job[]): CronJobStatus {
    const { recorder } = this.context;
    const before = cronJob.status?.active ?? [];
    let { lastSuccessfulTime } = cronJob.status ?? {};
    const active: ObjectReference[] = [];
    for (const reference of before) {
      const job = jobs.find((j) => j.metadata.uid === reference.uid);
      const end = job && isJobFinished(job);
      if (job && !end) active.push(reference);
      else if (end)
        recorder.event(
          cronJob,
          'Normal',
          'SawCompletedJob',
          `Saw completed job: ${reference.name}, condition: ${end}`,
        );
      else recorder.event(cronJob, 'Normal', 'MissingJob', `Active job went missing: ${reference.name}`);
    }
    for (const job of jobs) {
      const { completionTime } = job.status ?? {};
      if (isJobFinished(job) === 'Complete' && completionTime && completionTime > (lastSuccessfulTime ?? ''))
        lastSuccessfulTime = completionTime;
      const isKnown = before.some((r) => r.uid === job.metadata.uid);
      const isNew = !isJobFinished(job) && !isKnown;
      // Our own Job may be seen before the status that lists it was written.
      if (isNew && job.metadata.annotations?.[scheduledAt]) active.push(referenceOf(job));
      else if (isNew)
        recorder.event(
          cronJob,
          'Warning',
          'UnexpectedJob',
          `Saw a job that the controller did not create or forgot: ${job.metadata.name}`,
        );
    }
    return { ...cronJob.status, active, ...(lastSuccessfulTime ? { lastSuccessfulTime } : {}) };
  }

  private async startDue(
    cronJob: CronJob,
    status: CronJobStatus,
    jobs: readonly Job[],
  ): Promise<{ status: CronJobStatus; wait?: number }> {
    const { clock, recorder } = this.context;
    // cron-parser is loaded with the first CronJob: most clusters start without any.
    const { isTimeZone, latestMissed, parseSchedule } = await import('./schedule');
    const { timeZone } = cronJob.spec;
    if (timeZone !== undefined && !isTimeZone(timeZone)) {
      const message = `invalid timeZone: "${timeZone}": unknown time zone ${timeZone}`;
      recorder.event(cronJob, 'Warning', 'UnknownTimeZone', message);
      return { status };
    }
    if (cronJob.spec.suspend) return { status };
    let schedule: Schedule;
    try {
      schedule = parseSchedule(cronJob.spec.schedule, cronJob.spec.timeZone);
    } catch (error) {
      recorder.event(
        cronJob,
        'Warning',
        'UnparseableSchedule',
        `unparseable schedule: "${cronJob.spec.schedule}" : ${(error as Error).message}`,
      );
      return { status };
    }
    const now = clock.now();
    const deadlineMs = (cronJob.spec.startingDeadlineSeconds ?? Number.POSITIVE_INFINITY) * 1000;
    const since = Date.parse(status.lastScheduleTime ?? cronJob.metadata.creationTimestamp ?? '');
    const earliest = Math.max(since, Number.isFinite(deadlineMs) ? now - deadlineMs : 0);
    const { isVoid, latest, tooMany } = latestMissed(schedule, earliest, now);
    if (isVoid) {
      const reason = 'time difference between two schedules is less than 1 second';
      const message = `invalid schedule: ${cronJob.spec.schedule} : ${reason}`;
      recorder.event(cronJob, 'Warning', 'InvalidSchedule', message);
      return { status };
    }
    const following = schedule.next(now);
    const wait = following === undefined ? undefined : following - now;
    if (tooMany)
      recorder.event(
        cronJob,
        'Warning',
        'TooManyMissedTimes',
        'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
      );
    if (latest === undefined) return { status, wait };
    if (latest + deadlineMs < now) {
      recorder.event(
        cronJob,
        'Warning',
        'MissSchedule',
        `Missed scheduled time to start a job: ${goTime(latest)}`,
      );
      return { status, wait };
    }
    const made = jobs.find((job) => job.metadata.name === jobName(cronJob, latest));
    if (made) return { status: withScheduleTime(status, made), wait };
    return { status: await this.startJob(cronJob, status, latest), wait };
  }

  private async startJob(cronJob: CronJob, status: CronJobStatus, at: number): Promise<CronJobStatus> {
    const { client, recorder } = this.context;
    const { namespace } = cronJob.metadata;
    const running = status.active ?? [];
    const policy = cronJob.spec.concurrencyPolicy ?? 'Allow';
    if (policy === 'Forbid' && running.length > 0) {
      recorder.event(
        cronJob,
        'Normal',
        'JobAlreadyActive',
        'Not starting job because prior execution is running and concurrency policy is Forbid',
      );
      return status;
    }
    let active = running;
    if (policy === 'Replace') {
      for (const { name = '' } of running) await this.deleteJob(cronJob, name);
      active = [];
    }
    try {
      const job = await client
        .for(Jobs)
        .create(jobOf(cronJob, at), { namespace, trace: client.traceOf(cronJob) });
      this.skew.observe(Math.max(0, this.context.clock.now() - at) / 1000);
      recorder.event(cronJob, 'Normal', 'SuccessfulCreate', `Created job ${job.metadata.name}`);
      return { ...status, active: [...active, referenceOf(job)], lastScheduleTime: formatTime(at) };
    } catch (error) {
      if (isAlreadyExists(error)) return { ...status, active, lastScheduleTime: formatTime(at) };
      if (!isNamespaceTerminating(error))
        recorder.event(cronJob, 'Warning', 'FailedCreate', `Error creating job: ${(error as Error).message}`);
      throw error;
    }
  }

  private async cleanUp(cronJob: CronJob, jobs: readonly Job[]): Promise<void> {
    for (const job of surplusHistory(cronJob, jobs)) await this.deleteJob(cronJob, job.metadata.name);
  }

  private async deleteJob(cronJob: CronJob, name: string): Promise<void> {
    const { client, recorder } = this.context;
    const { namespace } = cronJob.metadata;
    try {
      await client.for(Jobs).delete(name, { namespace, propagationPolicy: 'Background' });
      recorder.event(cronJob, 'Normal', 'SuccessfulDelete', `Deleted job ${name}`);
    } catch (error) {
      if (isNotFound(error)) return;
      recorder.event(cronJob, 'Warning', 'FailedDelete', `Deleted job: ${(error as Error).message}`);
      throw error;
    }
  }

  private async writeStatus(cronJob: CronJob, status: CronJobStatus): Promise<void> {
    if (sameStatus(cronJob.status, status)) return;
    const { client } = this.context;
    await client
      .for(CronJobs)
      .updateStatus({ ...cronJob, status }, { namespace: cronJob.metadata.namespace })
      .catch(ignoreNotFound);
  }
}

/** The Job may have been made by a run that could not write down that it did: its own time is what was scheduled then. */
function withScheduleTime(status: CronJobStatus, made: Job): CronJobStatus {
  const at = Date.parse(made.metadata.annotations?.[scheduledAt] ?? '');
  return at > Date.parse(status.lastScheduleTime ?? '1970-01-01T00:00:00Z')
    ? { ...status, lastScheduleTime: formatTime(at) }
    : status;
}

/** One name a scheduled minute: a second attempt for the same time can't make a second Job. */
const jobName = (cronJob: CronJob, at: number): string =>
  `${cronJob.metadata.name}-${Math.floor(at / 60_000)}`;

function jobOf(cronJob: CronJob, at: number): Job {
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

const referenceOf = ({ metadata }: Job): ObjectReference => ({
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
  if (!offset) return formatTime(at);
  const ms = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1);
  return formatTime(at + ms).replace('Z', offset);
}

/** As Go's time.RFC1123Z prints it. */
function goTime(at: number): string {
  return new Date(at).toUTCString().replace('GMT', '+0000');
}

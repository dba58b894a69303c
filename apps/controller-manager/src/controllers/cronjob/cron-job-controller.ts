import { CronJobs, Jobs, type CronJob, type CronJobStatus, type Job } from '@tinkernetes/api';
import { controllerOf, ignoreNotFound, isAlreadyExists, isNotFound } from '@tinkernetes/apimachinery';
import type { ReconcileResult, Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { controllerUidIndex, indexByControllerUid } from '../shared/owner-index';
import { watchOwned } from '../shared/owned-objects';
import { isNamespaceTerminating } from '../shared/namespace-terminating';
import { sameStatus } from '../shared/same-status';
import { watchObjects } from '../shared/watch-objects';
import { concurrencyOf } from './concurrency';
import { surplusHistory } from './history';
import { observeJobs, unseenActive, type CronJobEvent } from './observed-jobs';
import { jobName, jobOf, withMadeJob, withScheduleTime } from './scheduled-job';

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
    const gone = await this.goneJobs(cronJob, jobs);
    const { status: tracked, events } = observeJobs(cronJob, jobs, gone);
    this.tell(cronJob, events);
    const { status, wait } = await this.startDue(cronJob, tracked, jobs);
    await this.writeStatus(cronJob, status);
    return wait === undefined ? undefined : { requeueAfterMs: Math.max(0, wait) + slackMs };
  }

  /** The cache may be behind: only the server knows whether a Job is gone that a status has already listed. */
  private async goneJobs(cronJob: CronJob, jobs: readonly Job[]): Promise<ReadonlySet<string>> {
    const gone = new Set<string>();
    for (const { name = '', namespace, uid = '' } of unseenActive(cronJob, jobs)) {
      const job = await this.context.client.for(Jobs).get(name, { namespace }).catch(ignoreNotFound);
      if (job?.metadata.uid !== uid) gone.add(uid);
    }
    return gone;
  }

  private async startDue(
    cronJob: CronJob,
    status: CronJobStatus,
    jobs: readonly Job[],
  ): Promise<{ status: CronJobStatus; wait?: number }> {
    // cron-parser is loaded with the first CronJob: most clusters start without any.
    const { dueOf } = await import('./due');
    const { at, wait, events } = dueOf(cronJob, status, this.context.clock.now());
    this.tell(cronJob, events);
    if (at === undefined) return { status, wait };
    const made = jobs.find((job) => job.metadata.name === jobName(cronJob, at));
    if (made) return { status: withScheduleTime(status, made), wait };
    return { status: await this.startJob(cronJob, status, at), wait };
  }

  private async startJob(cronJob: CronJob, status: CronJobStatus, at: number): Promise<CronJobStatus> {
    const { client, recorder } = this.context;
    const { namespace } = cronJob.metadata;
    const { skipped, replaced, kept } = concurrencyOf(cronJob, status.active);
    if (skipped) {
      this.tell(cronJob, [skipped]);
      return status;
    }
    for (const { name = '' } of replaced) await this.deleteJob(cronJob, name);
    try {
      const job = await client
        .for(Jobs)
        .create(jobOf(cronJob, at), { namespace, trace: client.traceOf(cronJob) });
      this.skew.observe(Math.max(0, this.context.clock.now() - at) / 1000);
      recorder.event(cronJob, 'Normal', 'SuccessfulCreate', `Created job ${job.metadata.name}`);
      return withMadeJob({ ...status, active: [...kept] }, job, at);
    } catch (error) {
      if (isAlreadyExists(error)) return this.statusAfterClash(cronJob, { ...status, active: [...kept] }, at);
      if (!isNamespaceTerminating(error))
        recorder.event(cronJob, 'Warning', 'FailedCreate', `Error creating job: ${(error as Error).message}`);
      throw error;
    }
  }

  /** A Job of ours is one whose making was not written down; somebody else's means nothing to the status. */
  private async statusAfterClash(
    cronJob: CronJob,
    status: CronJobStatus,
    at: number,
  ): Promise<CronJobStatus> {
    const { namespace, uid } = cronJob.metadata;
    const job = await this.context.client.for(Jobs).get(jobName(cronJob, at), { namespace });
    return controllerOf(job)?.uid === uid ? withMadeJob(status, job, at) : status;
  }

  private tell(cronJob: CronJob, events: readonly CronJobEvent[]): void {
    for (const { type, reason, message } of events)
      this.context.recorder.event(cronJob, type, reason, message);
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

import { Jobs, Pods, type Job, type JobStatus, type Pod } from '@tinkernetes/api';
import {
  controllerOf,
  isNotFound,
  isPodActive,
  isPodReady,
  isPodTerminal,
  keyOf,
  selectorOf,
} from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import {
  allInTurns,
  claimChildren,
  ControllerExpectations,
  settleInTurns,
  slowStartBatch,
  type ReconcileResult,
  type Reconciler,
} from '@tinkernetes/controller';
import type { RateLimitingQueue } from '@tinkernetes/workqueue';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { childCandidates, indexByControllerUid } from '../shared/owner-index';
import { watchOwned } from '../shared/owned-objects';
import { createPod, deletePod } from '../shared/pod-control';
import { sameStatus } from '../shared/same-status';
import { watchObjects } from '../shared/watch-objects';
import { account, indexFields, type Accounting } from './accounting';
import { afterBackoff } from './backoff';
import {
  announcementOf,
  endEventsOf,
  endOf,
  isJobFinished,
  suspensionOf,
  withJobCondition,
} from './conditions';
import { demandOf } from './demand';
import { releasePod } from './finalizers';
import { isCountedOnly } from './counted-only';
import { createJobMetrics, type SyncAction } from './metrics';
import { isTracked, jobPod, trackingFinalizer } from './pods';
import { countReleased, planTracking } from './tracking';
import { decide, type Verdict } from './verdict';

const orphanPrefix = 'orphan/';
const ownManager = 'kubernetes.io/job-controller';
/** Finalizers are removed and Pods counted in portions of this size. */
const maxReleases = 500;
/** Upstream's syncJobBatchPeriod. */
const batchMs = 1000;

/**
 * Runs Pods until enough of them have succeeded. Watches Jobs and Pods; writes Pods and the Job's status.
 * Source: k8s.io/kubernetes/pkg/controller/job.
 */
export function startJobController(context: ControllerContext): RunnableController {
  const queue = context.queues.create('job');
  const reconciler = new JobController(context, queue);
  return queueController({ context, queue, reconciler, concurrency: context.flags['concurrent-job-syncs'] });
}

/** Says what a look at a Job did. */
type Note = (action: SyncAction) => void;

const isForeign = ({ spec }: Job): boolean => Boolean(spec.managedBy && spec.managedBy !== ownManager);

/** The Pods of one reconcile, by what they do. */
interface View {
  job: Job;
  pods: readonly Pod[];
  active: readonly Pod[];
  terminating: readonly Pod[];
  accounting: Accounting;
  verdict: Verdict;
}

class JobController implements Reconciler {
  readonly name = 'job-controller';
  private readonly jobs;
  private readonly pods;
  private readonly expectations: ControllerExpectations;
  private readonly metrics;
  /** Uids of Pods whose finalizer is removed, until the cache shows it. */
  private readonly released = new Set<string>();

  constructor(
    private readonly context: ControllerContext,
    queue: RateLimitingQueue,
  ) {
    const enqueue = (key: string) => queue.add(key);
    this.expectations = new ControllerExpectations(context.clock);
    this.metrics = createJobMetrics(context.metrics);
    this.jobs = context.informers.for(Jobs);
    this.pods = context.informers.for(Pods);
    indexByControllerUid(this.pods);
    watchObjects(this.jobs, enqueue, { expectations: this.expectations });
    this.jobs.addEventHandler({
      added: (job) => {
        if (isForeign(job)) this.metrics.seenForeign(job);
      },
      deleted: (job) => {
        for (const pod of childCandidates(this.pods, job))
          if (isTracked(pod)) enqueue(orphanPrefix + keyOf(pod));
      },
    });
    watchOwned({
      children: this.pods,
      owners: this.jobs,
      // Pods that start and become ready are only counted: several changes of that kind make one status.
      enqueue: (key, pod, before) =>
        before && isCountedOnly(before, pod) ? queue.addAfter(key, batchMs) : queue.add(key),
      selectorOf: (job) => selectorOf(job.spec.selector),
      expectations: this.expectations,
    });
    // Nobody else would ever let a tracked Pod go whose Job is gone.
    const onPod = (pod: Pod) => {
      if (isTracked(pod) && pod.metadata.deletionTimestamp && !this.jobOf(pod))
        enqueue(orphanPrefix + keyOf(pod));
    };
    this.pods.addEventHandler({
      added: (pod) => {
        this.metrics.trackedPod(undefined, pod);
        onPod(pod);
      },
      updated: (before, pod) => {
        this.metrics.trackedPod(before, pod);
        if (!isTracked(pod)) this.released.delete(pod.metadata.uid ?? '');
        onPod(pod);
      },
      deleted: (pod) => {
        this.metrics.trackedPod(pod, undefined);
        this.released.delete(pod.metadata.uid ?? '');
      },
    });
  }

  async reconcile(key: string, { signal }: { signal: AbortSignal }): Promise<ReconcileResult | void> {
    if (key.startsWith(orphanPrefix)) {
      const pod = this.pods.lister.getByKey(key.slice(orphanPrefix.length));
      if (pod && isTracked(pod) && !this.jobOf(pod)) await releasePod(this.context.client, pod);
      return;
    }
    const job = this.jobs.lister.getByKey(key);
    if (!job) return this.expectations.forget(key);
    if (isForeign(job) || isJobFinished(job)) return;
    return this.measured(job, async (did) => this.sync(key, await this.observe(job, signal), did));
  }

  private async measured<R>(job: Job, work: (did: Note) => Promise<R>): Promise<R> {
    const { clock } = this.context;
    const startedAt = clock.monotonic();
    let action: SyncAction = 'reconciling';
    const note = (result: 'success' | 'error') =>
      this.metrics.synced(job, { result, action, ms: clock.monotonic() - startedAt });
    try {
      const result = await work((what) => (action = what));
      note('success');
      return result;
    } catch (error) {
      note('error');
      throw error;
    }
  }

  private async observe(job: Job, signal: AbortSignal): Promise<View> {
    const pods = (await this.claim(job, signal)).map((pod) => this.asReleased(pod));
    const active = pods.filter(isPodActive);
    const terminating = pods.filter((pod) => pod.metadata.deletionTimestamp && !isPodTerminal(pod));
    const accounting = account(job, pods);
    const verdict = decide({ job, accounting, active, now: this.context.clock.now() });
    return { job, pods, active, terminating, accounting, verdict };
  }

  private async sync(key: string, view: View, did: Note): Promise<ReconcileResult | void> {
    const { job, verdict } = view;
    const { clock } = this.context;
    const mayAct = this.expectations.satisfied(key) && !job.metadata.deletionTimestamp;
    let wait: number | undefined;
    let error: unknown;
    if (mayAct) {
      const stopsAll = verdict.is !== 'running' || job.spec.suspend;
      did(stopsAll && view.active.length > 0 ? 'pods_deleted' : 'tracking');
      ({ wait, error } = stopsAll
        ? await this.remove(key, view, view.active)
        : await this.meetDemand(key, view, did));
    }
    await this.track(view);
    if (error) throw error;
    const deadline = this.untilDeadline(job, clock.now());
    const waits = [wait, deadline].filter((ms) => ms !== undefined);
    return waits.length > 0 ? { requeueAfterMs: Math.min(...waits) } : undefined;
  }

  private async meetDemand(key: string, view: View, did: Note): Promise<{ wait?: number; error?: unknown }> {
    const { job, pods } = view;
    const demand = demandOf(job, view);
    if (demand.remove.length > 0) did('pods_deleted');
    if (demand.remove.length > 0) return this.remove(key, view, demand.remove);
    const { create, wait } = afterBackoff(demand.create, { job, pods, now: this.context.clock.now() });
    if (create.length === 0) return { wait };
    did('pods_created');
    const trace = this.context.client.traceOf(job);
    this.expectations.expectCreations(key, create.length);
    const { successes, error } = await slowStartBatch(create.length, async (i) => {
      try {
        await createPod(this.context, { owner: job, pod: jobPod(job, create[i]), trace });
        this.metrics.podCreated(job, 'succeeded');
      } catch (creationError) {
        this.metrics.podCreated(job, 'failed');
        throw creationError;
      }
    });
    for (let missed = successes; missed < create.length; missed++) this.expectations.creationObserved(key);
    return { error, wait };
  }

  private async remove(
    key: string,
    { job }: View,
    pods: readonly Pod[],
  ): Promise<{ wait?: number; error?: unknown }> {
    const trace = this.context.client.traceOf(job);
    this.expectations.expectDeletions(key, pods.map(keyOf));
    const results = await settleInTurns(pods, (pod) => deletePod(this.context, { owner: job, pod, trace }));
    let error: unknown;
    results.forEach((result, i) => {
      const pod = pods[i];
      if (result.status === 'fulfilled' || !pod) return;
      this.expectations.deletionObserved(key, keyOf(pod));
      error ??= result.reason;
    });
    return { error };
  }

  /** Writes what is known of the Pods, lets the counted ones go, and ends the Job when none is left. */
  private async track(view: View): Promise<void> {
    const { verdict, accounting, pods } = view;
    const plan = planTracking(view);
    const release = plan.release.slice(0, maxReleases);
    const base = this.baseStatus(view);
    let job = view.job;
    if (release.length > 0) {
      const uncounted = { uncountedTerminatedPods: plan.uncounted, ...indexFields(job, accounting) };
      job = await this.writeStatus(job, { ...base, ...uncounted });
      await allInTurns(release, (pod) => this.release(pod));
      this.metrics.released(view, release);
    }
    const released = new Set(release.map((pod) => pod.metadata.uid ?? ''));
    const stillTracked = new Set(
      pods
        .filter((pod) => isTracked(pod) && !released.has(pod.metadata.uid ?? ''))
        .map((pod) => pod.metadata.uid ?? ''),
    );
    const counts = countReleased(view.job, { uncounted: plan.uncounted, accounting }, stillTracked);
    const status: JobStatus = { ...base, ...counts };
    const isOver = verdict.is !== 'running' && stillTracked.size === 0 && this.nothingRuns(view);
    await this.writeStatus(job, isOver ? this.finalStatus(status, verdict) : status);
    if (isOver) this.announceEnd(view.job, status, verdict);
  }

  private async release(pod: Pod): Promise<void> {
    await releasePod(this.context.client, pod);
    this.released.add(pod.metadata.uid ?? '');
  }

  /** A Pod that was let go must not be counted again because the cache still shows its finalizer. */
  private asReleased(pod: Pod): Pod {
    if (!this.released.has(pod.metadata.uid ?? '') || !isTracked(pod)) return pod;
    const finalizers = pod.metadata.finalizers?.filter((f) => f !== trackingFinalizer);
    return { ...pod, metadata: { ...pod.metadata, finalizers } };
  }

  private nothingRuns({ pods, verdict }: View): boolean {
    // Pods that this reconcile stopped are still running: their end brings the Job back here.
    return verdict.is === 'running' || pods.every(isPodTerminal);
  }

  private finalStatus(status: JobStatus, verdict: Exclude<Verdict, { is: 'running' }>): JobStatus {
    const now = this.context.clock.now();
    return {
      ...status,
      conditions: withJobCondition(status.conditions, endOf(verdict), now),
      ...(verdict.is === 'complete' ? { completionTime: formatTime(now) } : {}),
    };
  }

  private announceEnd(job: Job, status: JobStatus, verdict: Exclude<Verdict, { is: 'running' }>): void {
    this.metrics.finished(job, verdict.is === 'complete' ? 'succeeded' : 'failed', verdict.reason);
    for (const { type, reason, message } of endEventsOf(job, status, verdict))
      this.context.recorder.event(job, type, reason, message);
  }

  /** The status but for its counters of finished Pods. */
  private baseStatus({ job, active, terminating, verdict }: View): JobStatus {
    const { clock, recorder } = this.context;
    const now = clock.now();
    const status = job.status ?? {};
    const suspension = suspensionOf(job);
    let conditions = status.conditions;
    let { startTime } = status;
    if (!startTime && !job.spec.suspend) startTime = formatTime(now);
    if (suspension && verdict.is === 'running') {
      conditions = withJobCondition(conditions, suspension, now);
      const isStop = suspension.status === 'True';
      startTime = isStop ? undefined : formatTime(now);
      recorder.event(job, 'Normal', isStop ? 'Suspended' : 'Resumed', suspension.message);
    }
    if (verdict.is !== 'running') conditions = withJobCondition(conditions, announcementOf(verdict), now);
    const stops = verdict.is !== 'running' || job.spec.suspend;
    return {
      ...status,
      ...(conditions ? { conditions } : {}),
      startTime,
      active: stops ? 0 : active.length,
      ready: stops ? 0 : active.filter(isPodReady).length,
      terminating: terminating.length + (stops ? active.length : 0),
    };
  }

  private async writeStatus(job: Job, status: JobStatus): Promise<Job> {
    if (sameStatus(job.status, status)) return job;
    const { client } = this.context;
    return client
      .for(Jobs)
      .updateStatus({ ...job, status }, { namespace: job.metadata.namespace, trace: client.traceOf(job) })
      .catch((error: unknown) => {
        if (isNotFound(error)) return job;
        throw error;
      });
  }

  private untilDeadline(job: Job, now: number): number | undefined {
    const { activeDeadlineSeconds, suspend } = job.spec;
    if (activeDeadlineSeconds === undefined || suspend) return undefined;
    const started = Date.parse(job.status?.startTime ?? formatTime(now));
    const left = started + activeDeadlineSeconds * 1000 - now;
    return left > 0 ? left : undefined;
  }

  private claim(job: Job, signal: AbortSignal): Promise<Pod[]> {
    const { client } = this.context;
    const selector = selectorOf(job.spec.selector);
    return claimChildren({
      owner: job,
      ownerDescriptor: Jobs,
      client: client.for(Pods),
      candidates: childCandidates(this.pods, job),
      matches: (pod) => selector.matches(pod.metadata.labels),
      freshOwner: () => client.for(Jobs).get(job.metadata.name, { namespace: job.metadata.namespace }),
      signal,
    });
  }

  private jobOf(pod: Pod): Job | undefined {
    const owner = controllerOf(pod);
    if (owner?.kind !== 'Job') return undefined;
    const job = this.jobs.lister.get(owner.name, pod.metadata.namespace);
    return job?.metadata.uid === owner.uid ? job : undefined;
  }
}

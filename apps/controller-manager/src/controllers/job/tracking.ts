import type { Job, JobStatus, Pod } from '@tinkernetes/api';
import { isPodTerminal } from '@tinkernetes/apimachinery';
import { indexFields, type Accounting } from './accounting';
import { isFailed, isIndexed, isTracked } from './pods';
import type { Verdict } from './verdict';

/**
 * How finished Pods get into the counters exactly once, crash or not: their uids are written into
 * `uncountedTerminatedPods`, then their finalizers are removed, then the uids become numbers.
 * Source: KEP-2307, job controller trackJobStatusAndRemoveFinalizers.
 */
export interface TrackingPlan {
  uncounted: { succeeded: string[]; failed: string[] };
  /** Pods that may lose their finalizer once `uncounted` is written. */
  release: Pod[];
}

const uidOf = (pod: Pod): string => pod.metadata.uid ?? '';

export interface TrackingInput {
  job: Job;
  pods: readonly Pod[];
  accounting: Accounting;
  verdict: Verdict;
}

export function planTracking({ job, pods, accounting, verdict }: TrackingInput): TrackingPlan {
  const before = job.status?.uncountedTerminatedPods;
  const hasFailed = verdict.is === 'failed';
  const mayRelease = (pod: Pod) =>
    verdict.is !== 'running' || !!job.metadata.deletionTimestamp || isPodTerminal(pod) || isFailed(job, pod);
  const release = pods.filter((pod) => isTracked(pod) && mayRelease(pod));
  const known = new Set([...(before?.succeeded ?? []), ...(before?.failed ?? [])]);
  const newly = new Set(accounting.newlyFailed.map(uidOf));
  // When the Job has failed, every Pod that is stopped for it counts as failed.
  const stopped = hasFailed
    ? release.filter((pod) => !isPodTerminal(pod) && !newly.has(uidOf(pod)) && !known.has(uidOf(pod)))
    : [];
  const failed = [
    ...accounting.newlyFailed.map(uidOf).filter((uid) => !accounting.ignored.has(uid)),
    ...stopped.map(uidOf),
  ];
  return {
    uncounted: {
      // Completed indexes are a record of their own: a Pod of one needs no other.
      succeeded: [
        ...(before?.succeeded ?? []),
        ...(isIndexed(job) ? [] : accounting.newlySucceeded.map(uidOf)),
      ],
      failed: [...(before?.failed ?? []), ...failed],
    },
    release,
  };
}

/** The counters after the Pods that are `stillTracked` (by uid) have been left for later. */
export function countReleased(
  job: Job,
  { uncounted, accounting }: { uncounted: TrackingPlan['uncounted']; accounting: Accounting },
  stillTracked: ReadonlySet<string>,
): JobStatus {
  const done = (uids: readonly string[]) => uids.filter((uid) => !stillTracked.has(uid)).length;
  const left = (uids: readonly string[]) => uids.filter((uid) => stillTracked.has(uid));
  const remaining = { succeeded: left(uncounted.succeeded), failed: left(uncounted.failed) };
  return {
    succeeded: isIndexed(job)
      ? accounting.completedIndexes.size
      : (job.status?.succeeded ?? 0) + done(uncounted.succeeded),
    failed: (job.status?.failed ?? 0) + done(uncounted.failed),
    uncountedTerminatedPods: {
      ...(remaining.succeeded.length > 0 ? { succeeded: remaining.succeeded } : {}),
      ...(remaining.failed.length > 0 ? { failed: remaining.failed } : {}),
    },
    ...indexFields(job, accounting),
  };
}

import type { Job, JobStatus, Pod } from '@tinkernetes/api';
import { formatIndexes, parseIndexes } from './indexes';
import { matchFailurePolicy, type PolicyOutcome } from './pod-failure-policy';
import {
  failureCountOf,
  ignoredFailureCountOf,
  indexOf,
  isFailed,
  isIndexed,
  isSucceeded,
  isTracked,
} from './pods';

export interface IndexFailures {
  failures: number;
  /** Those that the failure policy leaves out of the count. */
  ignored: number;
}

/** What a Job's finished Pods come to, those not yet counted in its status included. */
export interface Accounting {
  succeeded: number;
  failed: number;
  completedIndexes: ReadonlySet<number>;
  failedIndexes: ReadonlySet<number>;
  /** Failures of each index so far; only with backoffLimitPerIndex. */
  failuresByIndex: ReadonlyMap<number, IndexFailures>;
  /** Tracked Pods that ended and are in no list of the status yet. */
  newlySucceeded: readonly Pod[];
  newlyFailed: readonly Pod[];
  /** Of the newly failed, those that the policy leaves out of the count. */
  ignored: ReadonlySet<string>;
  /** What the failure policy says about the newly failed, by uid. */
  outcomes: ReadonlyMap<string, PolicyOutcome>;
  /** The message of the first FailJob rule that matched. */
  failJobMessage: string | undefined;
}

/** Source: k8s.io/kubernetes/pkg/controller/job getNewFinishedPods, calculateSucceededIndexes, calculateFailedIndexes. */
export function account(job: Job, pods: readonly Pod[]): Accounting {
  const status: JobStatus = job.status ?? {};
  const uncounted = {
    succeeded: new Set(status.uncountedTerminatedPods?.succeeded),
    failed: new Set(status.uncountedTerminatedPods?.failed),
  };
  const uidOf = (pod: Pod) => pod.metadata.uid ?? '';
  const completions = job.spec.completions ?? Number.MAX_SAFE_INTEGER;
  const isInRange = (pod: Pod) => !isIndexed(job) || (indexOf(pod) ?? completions) < completions;
  const counted = (pod: Pod) => uncounted.succeeded.has(uidOf(pod)) || uncounted.failed.has(uidOf(pod));
  const fresh = pods.filter((pod) => isTracked(pod) && !counted(pod) && isInRange(pod));
  const completedIndexes = new Set(parseIndexes(status.completedIndexes, completions));
  const newlySucceeded = fresh.filter(
    // A second success of the same index is no second completion.
    (pod) => isSucceeded(pod) && (!isIndexed(job) || !completedIndexes.has(indexOf(pod) ?? -1)),
  );
  const newlyFailed = fresh.filter((pod) => isFailed(job, pod));
  const outcomes = new Map(newlyFailed.map((pod) => [uidOf(pod), matchFailurePolicy(job, pod)]));
  const ignored = new Set([...outcomes].filter(([, o]) => o.action === 'Ignore').map(([uid]) => uid));

  for (const pod of newlySucceeded) if (isIndexed(job)) completedIndexes.add(indexOf(pod) ?? -1);
  const failedIndexes = new Set(parseIndexes(status.failedIndexes, completions));
  const failuresByIndex = new Map<number, IndexFailures>();
  const { backoffLimitPerIndex } = job.spec;
  if (isIndexed(job) && backoffLimitPerIndex !== undefined) {
    for (const pod of pods.filter((p) => isFailed(job, p))) {
      const index = indexOf(pod) ?? -1;
      const outcome = outcomes.get(uidOf(pod)) ?? matchFailurePolicy(job, pod);
      const isIgnored = outcome.action === 'Ignore';
      const failures = failureCountOf(pod) + (isIgnored ? 0 : 1);
      const ofPod = { failures, ignored: ignoredFailureCountOf(pod) + (isIgnored ? 1 : 0) };
      const known = failuresByIndex.get(index);
      if (!known || failures + ofPod.ignored > known.failures + known.ignored)
        failuresByIndex.set(index, ofPod);
      const isOver = failures > backoffLimitPerIndex || outcome.action === 'FailIndex';
      if (isOver && !completedIndexes.has(index)) failedIndexes.add(index);
    }
  }
  return {
    succeeded: isIndexed(job)
      ? completedIndexes.size
      : (status.succeeded ?? 0) + uncounted.succeeded.size + newlySucceeded.length,
    failed: (status.failed ?? 0) + uncounted.failed.size + newlyFailed.length - ignored.size,
    completedIndexes,
    failedIndexes,
    failuresByIndex,
    newlySucceeded,
    newlyFailed,
    ignored,
    outcomes,
    failJobMessage: [...outcomes.values()].find((o) => o.action === 'FailJob')?.message,
  };
}

/** The index fields as the status has them. */
export const indexFields = (job: Job, { completedIndexes, failedIndexes }: Accounting): Partial<JobStatus> =>
  isIndexed(job)
    ? {
        completedIndexes: formatIndexes(completedIndexes),
        ...(job.spec.backoffLimitPerIndex !== undefined
          ? { failedIndexes: formatIndexes(failedIndexes) }
          : {}),
      }
    : {};

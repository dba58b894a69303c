import type { Job, Pod } from '@tinkernetes/api';
import { findCondition } from '@tinkernetes/apimachinery';
import type { Accounting } from './accounting';
import { parseIndexes } from './indexes';
import { isIndexed } from './pods';

export type Verdict = { is: 'running' } | { is: 'failed' | 'complete'; reason: string; message: string };

export interface VerdictInput {
  job: Job;
  accounting: Accounting;
  /** Pods that are neither finished nor being deleted. */
  active: readonly Pod[];
  now: number;
}

/** Whether a Job has ended, and why. A verdict once in its conditions stays. Source: job controller syncJob. */
export function decide(input: VerdictInput): Verdict {
  const { job } = input;
  const target = findCondition(job.status?.conditions, 'FailureTarget');
  if (target?.status === 'True')
    return { is: 'failed', reason: target.reason ?? '', message: target.message ?? '' };
  const success = findCondition(job.status?.conditions, 'SuccessCriteriaMet');
  if (success?.status === 'True')
    return { is: 'complete', reason: success.reason ?? '', message: success.message ?? '' };
  return failure(input) ?? successByPolicy(input) ?? completion(input) ?? { is: 'running' };
}

function failure({ job, accounting, active, now }: VerdictInput): Verdict | undefined {
  if (accounting.failJobMessage)
    return { is: 'failed', reason: 'PodFailurePolicy', message: accounting.failJobMessage };
  const { backoffLimit = 6, activeDeadlineSeconds, maxFailedIndexes, suspend } = job.spec;
  if (accounting.failed > backoffLimit || restartsExceed(job, active, backoffLimit)) {
    return {
      is: 'failed',
      reason: 'BackoffLimitExceeded',
      message: 'Job has reached the specified backoff limit',
    };
  }
  const started = Date.parse(job.status?.startTime ?? '');
  if (activeDeadlineSeconds !== undefined && !suspend && now - started >= activeDeadlineSeconds * 1000) {
    return {
      is: 'failed',
      reason: 'DeadlineExceeded',
      message: 'Job was active longer than specified deadline',
    };
  }
  if (!isIndexed(job) || job.spec.backoffLimitPerIndex === undefined) return undefined;
  const { failedIndexes, completedIndexes } = accounting;
  if (maxFailedIndexes !== undefined && failedIndexes.size > maxFailedIndexes) {
    return {
      is: 'failed',
      reason: 'MaxFailedIndexesExceeded',
      message: 'Job has exceeded the specified maximal number of failed indexes',
    };
  }
  const allDone = failedIndexes.size + completedIndexes.size >= (job.spec.completions ?? 0);
  if (allDone && failedIndexes.size > 0 && active.length === 0)
    return { is: 'failed', reason: 'FailedIndexes', message: 'Job has failed indexes' };
  return undefined;
}

/** With restartPolicy OnFailure the kubelet restarts containers: those restarts count. */
function restartsExceed(job: Job, active: readonly Pod[], backoffLimit: number): boolean {
  if (job.spec.template.spec?.restartPolicy !== 'OnFailure') return false;
  const restarts = active
    .filter((pod) => pod.status?.phase === 'Running' || pod.status?.phase === 'Pending')
    .flatMap((pod) => [
      ...(pod.status?.initContainerStatuses ?? []),
      ...(pod.status?.containerStatuses ?? []),
    ])
    .reduce((sum, s) => sum + s.restartCount, 0);
  return backoffLimit === 0 ? restarts > 0 : restarts >= backoffLimit;
}

function successByPolicy({ job, accounting }: VerdictInput): Verdict | undefined {
  const { completedIndexes } = accounting;
  for (const [position, rule] of (job.spec.successPolicy?.rules ?? []).entries()) {
    const candidates = rule.succeededIndexes
      ? parseIndexes(rule.succeededIndexes, job.spec.completions)
      : [...completedIndexes];
    const met = candidates.filter((index) => completedIndexes.has(index)).length;
    const needed = rule.succeededCount ?? candidates.length;
    if (candidates.length > 0 && met >= needed)
      return { is: 'complete', reason: 'SuccessPolicy', message: `Matched rules at index ${position}` };
  }
  return undefined;
}

function completion({ job, accounting, active }: VerdictInput): Verdict | undefined {
  const { completions } = job.spec;
  const isComplete =
    completions === undefined
      ? accounting.succeeded > 0 && active.length === 0
      : accounting.succeeded >= completions && active.length === 0;
  return isComplete
    ? { is: 'complete', reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' }
    : undefined;
}

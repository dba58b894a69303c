import type { Job, JobCondition, JobStatus } from '@tinkernetes/api';
import { findCondition } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import type { Verdict } from './verdict';

type ConditionType = 'Complete' | 'Failed' | 'FailureTarget' | 'SuccessCriteriaMet' | 'Suspended';

export interface ConditionValue {
  type: ConditionType;
  status: 'True' | 'False';
  reason: string;
  message: string;
}

export function withJobCondition(
  conditions: readonly JobCondition[] | undefined,
  value: ConditionValue,
  now: number,
): JobCondition[] {
  const current = findCondition(conditions, value.type);
  if (current?.status === value.status) return [...(conditions ?? [])];
  const time = formatTime(now);
  const next: JobCondition = { ...value, lastProbeTime: time, lastTransitionTime: time };
  return [...(conditions ?? []).filter((c) => c.type !== value.type), next];
}

export const isJobFinished = (job: Job): 'Complete' | 'Failed' | undefined => {
  const conditions = job.status?.conditions ?? [];
  const finished = conditions.find(
    (c) => (c.type === 'Complete' || c.type === 'Failed') && c.status === 'True',
  );
  return finished?.type as 'Complete' | 'Failed' | undefined;
};

/** What announces the end while Pods are still stopping. */
export const announcementOf = (verdict: Exclude<Verdict, { is: 'running' }>): ConditionValue => ({
  type: verdict.is === 'failed' ? 'FailureTarget' : 'SuccessCriteriaMet',
  status: 'True',
  reason: verdict.reason,
  message: verdict.message,
});

/** The end itself: set when no Pod is left that could still run. */
export const endOf = (verdict: Exclude<Verdict, { is: 'running' }>): ConditionValue => ({
  ...announcementOf(verdict),
  type: verdict.is === 'failed' ? 'Failed' : 'Complete',
});

/** The Suspended condition that follows `spec.suspend`; a Job that was never suspended has none. */
export function suspensionOf(job: Job): ConditionValue | undefined {
  const current = findCondition(job.status?.conditions, 'Suspended');
  if (job.spec.suspend && current?.status !== 'True')
    return { type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended' };
  if (!job.spec.suspend && current?.status === 'True')
    return { type: 'Suspended', status: 'False', reason: 'JobResumed', message: 'Job resumed' };
  return undefined;
}

export interface JobEvent {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

/** What is told of a Job that has ended with this status. Source: job controller recordJobFinished. */
export function endEventsOf(
  { spec: { completions } }: Job,
  { succeeded = 0 }: JobStatus,
  verdict: Exclude<Verdict, { is: 'running' }>,
): JobEvent[] {
  if (verdict.is === 'failed') return [{ type: 'Warning', reason: verdict.reason, message: verdict.message }];
  const completed: JobEvent = { type: 'Normal', reason: 'Completed', message: 'Job completed' };
  if (completions === undefined || succeeded <= completions) return [completed];
  const surplus: JobEvent = {
    type: 'Warning',
    reason: 'TooManySucceededPods',
    message: 'Too many succeeded pods running after completion count reached',
  };
  return [surplus, completed];
}

import type { Job, Pod } from '@tinkernetes/api';
import {
  failureCountOf,
  finishedAt,
  ignoredFailureCountOf,
  indexOf,
  isFailed,
  isSucceeded,
  type IndexSlot,
} from './pods';

const baseMs = 10_000;
const maxMs = 10 * 60_000;

/**
 * How long no new Pod may be made: 10 s after the first failure since the last success, doubling with each, at most
 * 10 minutes, counted from the end of the latest failure. Source: k8s.io/kubernetes/pkg/controller/job/backoff_utils.go.
 */
export function backoffMs(job: Job, pods: readonly Pod[], now: number): number {
  const finished = pods
    .filter((pod) => isSucceeded(pod) || isFailed(job, pod))
    .map((pod) => ({ at: finishedAt(pod), failed: !isSucceeded(pod) }));
  const lastSuccess = Math.max(-1, ...finished.filter((p) => !p.failed).map((p) => p.at));
  const failures = finished.filter((p) => p.failed && p.at > lastSuccess);
  if (failures.length === 0) return 0;
  return remaining(failures.length, Math.max(...failures.map((p) => p.at)), now);
}

/** The same for one index: its Pods carry how often it had failed before them. */
function indexBackoffMs(job: Job, pods: readonly Pod[], now: number): number {
  const count = (pod: Pod) => failureCountOf(pod) + ignoredFailureCountOf(pod);
  const [last] = pods.filter((pod) => isFailed(job, pod)).sort((a, b) => count(b) - count(a));
  return last ? remaining(count(last) + 1, finishedAt(last), now) : 0;
}

const remaining = (failures: number, last: number, now: number): number =>
  Math.max(0, last + Math.min(maxMs, baseMs * 2 ** (failures - 1)) - now);

type Slot = IndexSlot | undefined;

/**
 * Which of the Pods wanted may be made now, and how long the others wait. Indexes with a back-off limit of their own
 * wait on their own.
 */
export function afterBackoff(
  slots: readonly Slot[],
  { job, pods, now }: { job: Job; pods: readonly Pod[]; now: number },
): { create: Slot[]; wait?: number } {
  if (slots.length === 0) return { create: [] };
  const isPerIndex = job.spec.backoffLimitPerIndex !== undefined;
  const common = isPerIndex ? 0 : backoffMs(job, pods, now);
  const waits = slots.map((slot) =>
    isPerIndex
      ? indexBackoffMs(
          job,
          pods.filter((pod) => indexOf(pod) === slot?.number),
          now,
        )
      : common,
  );
  const pending = waits.filter((ms) => ms > 0);
  return {
    create: slots.filter((_, i) => waits[i] === 0),
    ...(pending.length > 0 ? { wait: Math.min(...pending) } : {}),
  };
}

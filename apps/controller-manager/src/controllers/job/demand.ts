import type { Job, Pod } from '@tinkernetes/api';
import type { Accounting } from './accounting';
import { firstFreeIndexes } from './indexes';
import { byRemoval, indexOf, isIndexed, onlyReplacesFailed, type IndexSlot } from './pods';

export interface Demand {
  remove: Pod[];
  /** One entry a Pod to create; with the index where the Job is Indexed. */
  create: Array<IndexSlot | undefined>;
}

const maxCreations = 500;

/** How many Pods to make or to stop now. Source: k8s.io/kubernetes/pkg/controller/job manageJob. */
export function demandOf(
  job: Job,
  {
    active,
    terminating,
    accounting,
  }: { active: readonly Pod[]; terminating: readonly Pod[]; accounting: Accounting },
): Demand {
  const { parallelism = 1, completions } = job.spec;
  const { succeeded } = accounting;
  const wanted =
    completions === undefined
      ? succeeded > 0
        ? active.length
        : parallelism
      : Math.min(parallelism, Math.max(0, remainingOf(job, accounting)));
  const duplicates = isIndexed(job) ? duplicatesOf(job, active, accounting) : [];
  const others = active.filter((pod) => !duplicates.includes(pod)).sort(byRemoval);
  const remove = [...duplicates, ...others.slice(0, Math.max(0, others.length - wanted))];
  const kept = active.filter((pod) => !remove.includes(pod));
  const slots = wanted - kept.length - (onlyReplacesFailed(job) ? terminating.length : 0);
  const missing = Math.min(maxCreations, Math.max(0, slots));
  if (!isIndexed(job)) return { remove, create: Array.from({ length: missing }, () => undefined) };
  const taken = new Set([
    ...accounting.completedIndexes,
    ...accounting.failedIndexes,
    ...kept.map((pod) => indexOf(pod) ?? -1),
    ...(onlyReplacesFailed(job) ? terminating.map((pod) => indexOf(pod) ?? -1) : []),
  ]);
  const indexes = firstFreeIndexes(taken, missing, completions ?? 0);
  return {
    remove,
    create: indexes.map((number) => ({
      number,
      ...(accounting.failuresByIndex.get(number) ?? { failures: 0, ignored: 0 }),
    })),
  };
}

const remainingOf = (job: Job, { succeeded, failedIndexes }: Accounting): number =>
  (job.spec.completions ?? 0) - succeeded - failedIndexes.size;

/** Pods of an index that another Pod has, that is completed, or that is none, or none any more. */
function duplicatesOf(
  { spec: { completions = 0 } }: Job,
  active: readonly Pod[],
  { completedIndexes, failedIndexes }: Accounting,
): Pod[] {
  const seen = new Set<number>();
  return [...active]
    .sort((a, b) => -byRemoval(a, b))
    .filter((pod) => {
      const index = indexOf(pod);
      const isSurplus =
        index === undefined ||
        index >= completions ||
        seen.has(index) ||
        completedIndexes.has(index) ||
        failedIndexes.has(index);
      if (index !== undefined) seen.add(index);
      return isSurplus;
    });
}

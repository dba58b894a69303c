import { UsageError } from '@tinkernetes/component-base';

/** Pods of this priority and above get so long to end, after all those of less. */
export interface ShutdownPeriod {
  priority: number;
  seconds: number;
}

interface ShutdownSettings {
  totalMs: number;
  /** The part of it that is for critical Pods. */
  criticalMs: number;
  byPriority: ReadonlyArray<{ priority: number; shutdownGracePeriodSeconds: number }>;
}

const systemCriticalPriority = 2_000_000_000;

/** Lowest priority first; none: graceful shutdown is off. Source: pkg/kubelet/nodeshutdown migrateConfig. */
export function shutdownPeriods({ totalMs, criticalMs, byPriority }: ShutdownSettings): ShutdownPeriod[] {
  if (byPriority.length > 0) {
    if (totalMs > 0 || criticalMs > 0)
      throw new UsageError(
        'shutdownGracePeriodByPodPriority and shutdownGracePeriod exclude each other: give one of them',
      );
    return byPriority
      .map(({ priority, shutdownGracePeriodSeconds: seconds }) => ({ priority, seconds }))
      .sort((a, b) => a.priority - b.priority);
  }
  if (criticalMs > totalMs)
    throw new UsageError(
      '--shutdown-grace-period-critical-pods is a part of --shutdown-grace-period and must not be longer',
    );
  if (totalMs === 0) return [];
  return [
    { priority: 0, seconds: Math.floor((totalMs - criticalMs) / 1000) },
    { priority: systemCriticalPriority, seconds: Math.floor(criticalMs / 1000) },
  ];
}

/** The Pods of each period, in the order in which they end. Those below every priority belong to the first. */
export function groupByPriority<T>(
  periods: readonly ShutdownPeriod[],
  pods: readonly T[],
  priorityOf: (pod: T) => number,
): Array<{ period: ShutdownPeriod; pods: T[] }> {
  const groups = periods.map((period) => ({ period, pods: [] as T[] }));
  for (const pod of pods) {
    const own = groups.findLast(({ period }) => period.priority <= priorityOf(pod)) ?? groups[0];
    own?.pods.push(pod);
  }
  return groups.filter((group) => group.pods.length > 0);
}

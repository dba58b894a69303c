import type { RuntimeContainer } from './pod-runtime-status';

export interface ContainerGCPolicy {
  /** Younger ones stay. */
  minAgeMs: number;
  /** Ended runs to keep of each container; negative: all. */
  maxPerContainer: number;
  /** Ended runs to keep on the node; negative: all. */
  maxOnNode: number;
}

/** Of one Pod: what is to be removed beyond the runs that are kept for `logs --previous`, oldest first. */
export function surplusRuns(
  containers: readonly RuntimeContainer[],
  { minAgeMs, maxPerContainer }: Pick<ContainerGCPolicy, 'minAgeMs' | 'maxPerContainer'>,
  now: number,
): RuntimeContainer[] {
  if (maxPerContainer < 0) return [];
  return runsByName(containers)
    .flatMap((runs) => runs.slice(maxPerContainer))
    .filter((c) => now - c.createdAt >= minAgeMs)
    .sort((a, b) => a.createdAt - b.createdAt);
}

/**
 * Of all Pods of a node: as many per container as the limit allows, at least one each, then the oldest.
 * Source: pkg/kubelet/kuberuntime/kuberuntime_gc.go evictContainers.
 */
export function surplusOnNode(
  pods: ReadonlyArray<readonly RuntimeContainer[]>,
  { minAgeMs, maxOnNode }: Pick<ContainerGCPolicy, 'minAgeMs' | 'maxOnNode'>,
  now: number,
): RuntimeContainer[] {
  const units = pods.flatMap((containers) => runsByName(containers));
  const total = units.reduce((sum, runs) => sum + runs.length, 0);
  if (maxOnNode < 0 || total <= maxOnNode) return [];
  const each = Math.max(1, Math.floor(maxOnNode / units.length));
  const surplus = units.flatMap((runs) => runs.slice(each));
  const kept = units.flatMap((runs) => runs.slice(0, each));
  kept.sort((a, b) => a.createdAt - b.createdAt);
  return [...surplus, ...kept.slice(0, Math.max(0, kept.length - maxOnNode))].filter(
    (c) => now - c.createdAt >= minAgeMs,
  );
}

/** The ended runs of each container, newest first. */
function runsByName(containers: readonly RuntimeContainer[]): RuntimeContainer[][] {
  const runs = new Map<string, RuntimeContainer[]>();
  for (const container of containers) {
    if (container.state !== 'exited') continue;
    const known = runs.get(container.name);
    if (known) known.push(container);
    else runs.set(container.name, [container]);
  }
  return [...runs.values()];
}

import type { Diagnosis } from './types';

/**
 * `0/3 nodes are available: 1 node(s) had …, 2 Insufficient cpu. preemption: …`
 * Source: pkg/scheduler/framework.FitError.
 */
export function fitMessage(nodeCount: number, diagnosis: Diagnosis): string {
  const { preFilterMessage, postFilterMessage } = diagnosis;
  const why = preFilterMessage ?? reasonsOf(nodeCount, diagnosis);
  // PostFilter's message ends as the plugins end it.
  const parts = [why && `${why}.`, postFilterMessage].filter(Boolean);
  return `0/${nodeCount} nodes are available:${parts.map((part) => ` ${part}`).join('')}`;
}

/** Each reason with the number of nodes that gave it. */
function reasonsOf(nodeCount: number, { statuses, absentStatus }: Diagnosis): string {
  const counts = new Map<string, number>();
  const count = (reasons: readonly string[], by: number) => {
    for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + by);
  };
  for (const { reasons } of statuses.values()) count(reasons, 1);
  if (statuses.size < nodeCount) count(absentStatus.reasons, nodeCount - statuses.size);
  return [...counts]
    .map(([reason, nodes]) => `${nodes} ${reason}`)
    .sort((a, b) => (a < b ? -1 : 1))
    .join(', ');
}

import type { Node, Pod, Taint } from '@tinkernetes/api';
import { tolerates } from '@tinkernetes/apimachinery';

/**
 * When a Pod has to leave its node because of NoExecute taints, epoch milliseconds: undefined never, 0 at once. The
 * shortest tolerationSeconds of the tolerations used counts from the latest taint's timeAdded.
 * Source: https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/#taint-based-evictions
 */
export function evictionTime(pod: Pod, node: Pick<Node, 'spec'>, now: number): number | undefined {
  const taints = (node.spec.taints ?? []).filter((t) => t.effect === 'NoExecute');
  if (taints.length === 0) return undefined;
  const used = taints.map((taint) => (pod.spec.tolerations ?? []).filter((t) => tolerates(t, taint)));
  if (used.some((tolerations) => tolerations.length === 0)) return 0;
  const seconds = used
    .flat()
    .flatMap((t) => (t.tolerationSeconds === undefined ? [] : [t.tolerationSeconds]));
  if (seconds.length === 0) return undefined;
  const shortest = Math.max(0, Math.min(...seconds));
  return Math.max(...taints.map((taint) => addedAt(taint, now))) + shortest * 1000;
}

const addedAt = ({ timeAdded }: Taint, now: number): number => (timeAdded ? Date.parse(timeAdded) : now);

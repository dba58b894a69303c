import type { DaemonSet, Node, Pod } from '@tinkernetes/api';
import { isPodAvailable, scaledValue } from '@tinkernetes/apimachinery';
import { revisionHashLabel } from '../shared/controller-revisions';
import { decideForNode, targetNode } from './nodes';

export interface PlanInput {
  set: DaemonSet;
  nodes: readonly Node[];
  pods: readonly Pod[];
  /** Hash of the present template. */
  hash: string;
  now: number;
}

export interface Plan {
  /** Nodes that get a Pod. */
  create: string[];
  delete: Pod[];
  /** Pods that ended and are replaced; among `delete`. */
  finished: Pod[];
}

export type NodePods = ReadonlyMap<string, readonly Pod[]>;

export function podsByNode(pods: readonly Pod[]): NodePods {
  const map = new Map<string, Pod[]>();
  for (const pod of pods) {
    const node = targetNode(pod);
    if (!node) continue;
    const list = map.get(node) ?? [];
    list.push(pod);
    map.set(node, list);
  }
  return map;
}

export const isCurrent = (pod: Pod, hash: string): boolean =>
  pod.metadata.labels?.[revisionHashLabel] === hash;
const isTerminating = (pod: Pod): boolean => pod.metadata.deletionTimestamp !== undefined;
const hasEnded = (pod: Pod): boolean => pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded';
const byAge = (a: Pod, b: Pod): number =>
  Number(!a.spec.nodeName) - Number(!b.spec.nodeName) ||
  (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? '') ||
  a.metadata.name.localeCompare(b.metadata.name);

/** A Pod on each node that should have one, and none elsewhere. Source: daemon podsShouldBeOnNode. */
export function planPlacement({ set, nodes, pods, hash, now }: PlanInput): Plan {
  const onNode = podsByNode(pods);
  const known = new Set(nodes.map((n) => n.metadata.name));
  const plan: Plan = { create: [], delete: [], finished: [] };
  const surge = maxSurgeOf(set, nodes);
  for (const node of nodes) {
    const here = onNode.get(node.metadata.name) ?? [];
    const { shouldRun, shouldContinue } = decideForNode(set, node);
    if (!shouldContinue) {
      plan.delete.push(...here.filter((pod) => !isTerminating(pod)));
      continue;
    }
    const ended = here.filter((pod) => hasEnded(pod) && !isTerminating(pod));
    plan.finished.push(...ended);
    plan.delete.push(...ended);
    const running = here.filter((pod) => !isTerminating(pod) && !hasEnded(pod));
    if (shouldRun && here.length === 0) plan.create.push(node.metadata.name);
    plan.delete.push(
      ...(surge > 0 ? surplusWithSurge(running, { set, hash, now }) : [...running].sort(byAge).slice(1)),
    );
  }
  // Pods not bound yet that are meant for nodes which are gone; bound ones are the Pod collector's.
  plan.delete.push(
    ...pods.filter((pod) => !pod.spec.nodeName && !known.has(targetNode(pod) ?? '') && !isTerminating(pod)),
  );
  return plan;
}

/** One old and one new Pod may be on a node; the old one goes when the new one is available. */
function surplusWithSurge(
  running: readonly Pod[],
  { set, hash, now }: { set: DaemonSet; hash: string; now: number },
): Pod[] {
  const sorted = [...running].sort(byAge);
  const [old, ...moreOld] = sorted.filter((pod) => !isCurrent(pod, hash));
  const [fresh, ...moreFresh] = sorted.filter((pod) => isCurrent(pod, hash));
  const isReplaced = old && fresh && isPodAvailable(fresh, set.spec.minReadySeconds ?? 0, now);
  return [...moreOld, ...moreFresh, ...(isReplaced ? [old] : [])];
}

const desiredNodes = (set: DaemonSet, nodes: readonly Node[]): number =>
  nodes.filter((node) => decideForNode(set, node).shouldRun).length;

function maxSurgeOf(set: DaemonSet, nodes: readonly Node[]): number {
  if (set.spec.updateStrategy?.type === 'OnDelete') return 0;
  return scaledValue(set.spec.updateStrategy?.rollingUpdate?.maxSurge ?? 0, desiredNodes(set, nodes), 'up');
}

/** Which old Pods to replace now. Source: daemon rollingUpdate. */
export function planRollingUpdate(input: PlanInput): Pick<Plan, 'create' | 'delete'> {
  const { set, nodes, pods, hash, now } = input;
  const surge = maxSurgeOf(set, nodes);
  const isAvailable = (pod: Pod) => isPodAvailable(pod, set.spec.minReadySeconds ?? 0, now);
  const running = (name: string) => (podsByNodeOf.get(name) ?? []).filter((pod) => !isTerminating(pod));
  const podsByNodeOf = podsByNode(pods);
  const states = nodes
    .filter((node) => decideForNode(set, node).shouldRun)
    .map((node) => {
      const here = running(node.metadata.name);
      return {
        node: node.metadata.name,
        fresh: here.find((pod) => isCurrent(pod, hash)),
        old: here.find((pod) => !isCurrent(pod, hash)),
      };
    });
  if (surge > 0) {
    const inFlight = states.filter(({ fresh, old }) => old && fresh).length;
    const waiting = states.filter(({ fresh, old }) => old && !fresh);
    // An old Pod that serves nobody costs nothing to replace.
    const broken = waiting.filter(({ old }) => old && !isAvailable(old));
    const serving = waiting.filter(({ old }) => old && isAvailable(old));
    const room = Math.max(0, surge - inFlight);
    return { create: [...broken, ...serving.slice(0, room)].map(({ node }) => node), delete: [] };
  }
  const allowed = scaledValue(
    set.spec.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1,
    states.length,
    'up',
  );
  const away = states.filter(({ fresh, old }) => !old && !(fresh && isAvailable(fresh))).length;
  const broken = states.flatMap(({ old, fresh }) => (old && !fresh && !isAvailable(old) ? [old] : []));
  const serving = states.flatMap(({ old, fresh }) => (old && !fresh && isAvailable(old) ? [old] : []));
  const room = Math.max(0, allowed - away - broken.length);
  return { create: [], delete: [...broken, ...serving.slice(0, room)] };
}

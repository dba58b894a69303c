import type { DaemonSet, Node, Pod } from '@tinkernetes/api';
import { isPodAvailable, isPodReady, scaledValue } from '@tinkernetes/apimachinery';
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
  /** Pods that ended and are to be replaced. */
  finished: Pod[];
}

export type NodePods = ReadonlyMap<string, readonly Pod[]>;

/** The Pods that count, by node, the oldest first: those that ended and are being deleted do not. */
export function podsByNode(pods: readonly Pod[]): NodePods {
  const map = new Map<string, Pod[]>();
  for (const pod of [...pods].sort(byAge)) {
    const node = targetNode(pod);
    if (!node || (hasEnded(pod) && isTerminating(pod))) continue;
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
  const surges = allowsSurge(set);
  for (const node of nodes) {
    const here = onNode.get(node.metadata.name) ?? [];
    const staying = here.filter((pod) => !isTerminating(pod));
    const { shouldRun, shouldContinue } = decideForNode(set, node);
    if (!shouldContinue) {
      plan.delete.push(...staying);
      continue;
    }
    plan.finished.push(...staying.filter(hasEnded));
    const running = staying.filter((pod) => !hasEnded(pod));
    const isMissing = surges ? running.length === 0 : here.length === 0;
    if (shouldRun && isMissing) plan.create.push(node.metadata.name);
    plan.delete.push(...(surges ? surplusWithSurge(running, { set, hash, now }) : running.slice(1)));
  }
  // Pods not bound yet that are meant for nodes which are gone; bound ones are the Pod collector's.
  plan.delete.push(
    ...pods.filter((pod) => !pod.spec.nodeName && !known.has(targetNode(pod) ?? '') && !isTerminating(pod)),
  );
  return plan;
}

/** One old and one new Pod may be on a node; the old one goes when it serves nobody or the new one is available. */
function surplusWithSurge(
  running: readonly Pod[],
  { set, hash, now }: { set: DaemonSet; hash: string; now: number },
): Pod[] {
  const [old, ...moreOld] = running.filter((pod) => !isCurrent(pod, hash));
  const [fresh, ...moreFresh] = running.filter((pod) => isCurrent(pod, hash));
  const isReplaced =
    old && fresh && (!isPodReady(old) || isPodAvailable(fresh, set.spec.minReadySeconds ?? 0, now));
  return [...moreOld, ...moreFresh, ...(isReplaced ? [old] : [])];
}

/** Whether new Pods come before old ones go, be it on however few nodes at once. */
function allowsSurge({ spec }: DaemonSet): boolean {
  const { maxSurge = 0 } = spec.updateStrategy?.rollingUpdate ?? {};
  return spec.updateStrategy?.type !== 'OnDelete' && maxSurge !== 0 && maxSurge !== '0%';
}

/** What a rolling update finds on one node. */
interface NodeState {
  readonly node: string;
  readonly shouldRun: boolean;
  /** The Pod of the present template. */
  readonly fresh: Pod | undefined;
  readonly old: Pod | undefined;
  /** More than one of either: the placement clears that up first. */
  readonly isCrowded: boolean;
}

function statesOf({ set, nodes, pods, hash }: PlanInput): NodeState[] {
  const onNode = podsByNode(pods);
  return nodes.flatMap((node) => {
    const { name } = node.metadata;
    const { shouldRun } = decideForNode(set, node);
    const here = onNode.get(name) ?? [];
    if (!shouldRun && here.length === 0) return [];
    const staying = here.filter((pod) => !isTerminating(pod));
    const fresh = staying.filter((pod) => isCurrent(pod, hash));
    const old = staying.filter((pod) => !isCurrent(pod, hash));
    const isCrowded = fresh.length > 1 || old.length > 1;
    return [{ node: name, shouldRun, fresh: fresh[0], old: old[0], isCrowded }];
  });
}

/** Which old Pods to replace now. Source: daemon rollingUpdate. */
export function planRollingUpdate(input: PlanInput): Pick<Plan, 'create' | 'delete'> {
  const { set, now } = input;
  const states = statesOf(input);
  const desired = states.filter((state) => state.shouldRun).length;
  const isAvailable = (pod: Pod | undefined): pod is Pod =>
    pod !== undefined && isPodAvailable(pod, set.spec.minReadySeconds ?? 0, now);
  const { maxSurge = 0, maxUnavailable = 1 } = set.spec.updateStrategy?.rollingUpdate ?? {};
  const surge = scaledValue(maxSurge, desired, 'up');
  if (surge > 0) return planSurge(states, { surge, desired, isAvailable });
  const unavailable = scaledValue(maxUnavailable, desired, 'up');
  // Neither one nor the other could never move.
  return planReplacement(states, { allowed: unavailable === 0 ? 1 : unavailable, isAvailable });
}

type IsAvailable = (pod: Pod | undefined) => pod is Pod;

/** Old Pods go, and the placement fills their nodes: at most so many nodes are without an available Pod. */
function planReplacement(
  states: readonly NodeState[],
  { allowed, isAvailable }: { allowed: number; isAvailable: IsAvailable },
): Pick<Plan, 'create' | 'delete'> {
  const waiting = states.filter(({ isCrowded, fresh, old }) => !isCrowded && old && !fresh);
  const others = states.filter((state) => !waiting.includes(state));
  const away = others.filter(
    ({ isCrowded, fresh, old }) => isCrowded || old !== undefined || !isAvailable(fresh),
  ).length;
  const broken = waiting.flatMap(({ old }) => (old && !isAvailable(old) ? [old] : []));
  const serving = waiting.flatMap(({ old }) => (isAvailable(old) ? [old] : []));
  const room = Math.max(0, allowed - away - broken.length);
  return { create: [], delete: [...broken, ...serving.slice(0, room)] };
}

/** New Pods come first, on at most so many nodes at once; an old Pod that serves nobody costs nothing to replace. */
function planSurge(
  states: readonly NodeState[],
  { surge, desired, isAvailable }: { surge: number; desired: number; isAvailable: IsAvailable },
): Pick<Plan, 'create' | 'delete'> {
  const clear = states.filter((state) => !state.isCrowded);
  const both = clear.filter(({ fresh, old }) => old && fresh);
  const inFlight = states.length - clear.length + both.filter(({ fresh }) => !isAvailable(fresh)).length;
  const replaced = both.filter(({ fresh }) => isAvailable(fresh));
  const waiting = clear.filter(({ fresh, old }) => old && !fresh);
  const broken = waiting.filter(({ old }) => !isAvailable(old));
  const serving = waiting.filter(({ old }) => isAvailable(old));
  // Where a node is to be left, its Pod serves on until as many as are wanted do so elsewhere.
  const surplus = clear.filter(({ old, fresh }) => isAvailable(old ?? fresh)).length - desired;
  const leaving = serving.filter((state) => !state.shouldRun).slice(0, Math.max(0, surplus));
  const here = serving.filter((state) => state.shouldRun).slice(0, Math.max(0, surge - inFlight));
  const gone = [...replaced, ...broken.filter((state) => !state.shouldRun), ...leaving];
  return {
    create: [...broken.filter((state) => state.shouldRun), ...here].map(({ node }) => node),
    delete: gone.flatMap(({ old }) => (old ? [old] : [])),
  };
}

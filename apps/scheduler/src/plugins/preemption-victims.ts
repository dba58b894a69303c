import type { Pod, PodDisruptionBudget } from '@tinkernetes/api';
import { selectorOf } from '@tinkernetes/apimachinery';
import type { NodeInfo } from '../cache/node-info';
import { podInfoOf, uidOf, type PodInfo } from '../cache/pod-info';
import type { CycleState } from '../framework/cycle-state';
import { unresolvable, type Status } from '../framework/status';
import type { Handle } from '../framework/types';

/** Pods to be removed from a node so that another fits there. */
export interface Candidate {
  node: string;
  /** Most important first. */
  victims: PodInfo[];
  violatedBudgets: number;
}

/** A Pod that has not started counts as one that starts now. */
const startOf = ({ pod }: PodInfo): number =>
  Date.parse(pod.status?.startTime ?? pod.metadata.creationTimestamp ?? '') || Number.MAX_SAFE_INTEGER;

/** Higher priority, or running for longer. */
const byImportance = (a: PodInfo, b: PodInfo): number => b.priority - a.priority || startOf(a) - startOf(b);

/**
 * Takes all less important Pods off the node, and then puts back as many as can stay; first those that a disruption
 * budget protects. Returns why the node would not do even so.
 * Source: defaultpreemption.SelectVictimsOnNode.
 */
export function selectVictims(
  {
    pod,
    state,
    node,
    budgets,
  }: { pod: Pod; state: CycleState; node: NodeInfo; budgets: readonly PodDisruptionBudget[] },
  handle: Pick<Handle, 'filterWithNominatedPods' | 'addPodToState' | 'removePodFromState'>,
): Candidate | Status {
  const trial = node.clone();
  const trialState = state.clone();
  const take = (removed: PodInfo) => {
    trial.removePod(uidOf(removed.pod));
    handle.removePodFromState(trialState, pod, { removed, node: trial });
  };
  const putBack = (added: PodInfo) => {
    trial.addPod(added);
    handle.addPodToState(trialState, pod, { added, node: trial });
  };
  const fits = () => handle.filterWithNominatedPods(trialState, pod, trial);
  const { priority } = podInfoOf(pod);
  const lesser = node.pods.filter((other) => other.priority < priority);
  if (lesser.length === 0) return unresolvable('No preemption victims found for incoming pod');
  lesser.forEach(take);
  const refusal = fits();
  if (refusal) return refusal;
  const victims: PodInfo[] = [];
  const canStay = (other: PodInfo): boolean => {
    putBack(other);
    if (!fits()) return true;
    take(other);
    victims.push(other);
    return false;
  };
  const { violating, others } = splitByBudgets([...lesser].sort(byImportance), budgets);
  const violatedBudgets = violating.filter((other) => !canStay(other)).length;
  others.forEach(canStay);
  return { node: node.name, victims: victims.sort(byImportance), violatedBudgets };
}

/** Pods whose removal would exceed what a disruption budget still allows, when removed in this order. */
function splitByBudgets(
  pods: readonly PodInfo[],
  budgets: readonly PodDisruptionBudget[],
): { violating: PodInfo[]; others: PodInfo[] } {
  const allowed = new Map(budgets.map((budget) => [budget, budget.status?.disruptionsAllowed ?? 0]));
  const violating: PodInfo[] = [];
  const others: PodInfo[] = [];
  for (const info of pods) {
    let violates = false;
    for (const budget of budgets) {
      if (!protects(budget, info.pod)) continue;
      const left = (allowed.get(budget) ?? 0) - 1;
      allowed.set(budget, left);
      violates ||= left < 0;
    }
    (violates ? violating : others).push(info);
  }
  return { violating, others };
}

/** An empty selector protects nothing here; a Pod that is counted as disrupted already costs nothing more. */
function protects({ metadata, spec, status }: PodDisruptionBudget, pod: Pod): boolean {
  const labels = pod.metadata.labels ?? {};
  const selector = spec?.selector;
  const isEmpty = !Object.keys(selector?.matchLabels ?? {}).length && !selector?.matchExpressions?.length;
  if (metadata.namespace !== pod.metadata.namespace || isEmpty || Object.keys(labels).length === 0)
    return false;
  return selectorOf(selector).matches(labels) && !(pod.metadata.name in (status?.disruptedPods ?? {}));
}

/** Every priority counts as positive, so that fewer victims of negative priority are better than many. */
const priorityOffset = 2 ** 31 + 1;

/**
 * The node where preemption hurts least: fewest violated budgets, then the least important of the most important
 * victims, the smallest sum of priorities, the fewest victims, the one whose most important victims started last.
 */
export function pickCandidate(candidates: readonly Candidate[]): Candidate | undefined {
  const costs: ((candidate: Candidate) => number)[] = [
    ({ violatedBudgets }) => violatedBudgets,
    ({ victims }) => victims[0]?.priority ?? -Infinity,
    ({ victims }) => victims.reduce((sum, { priority }) => sum + priority + priorityOffset, 0),
    ({ victims }) => victims.length,
    ({ victims }) => -earliestStart(victims),
  ];
  let left = candidates;
  for (const cost of costs) {
    const least = Math.min(...left.map(cost));
    left = left.filter((candidate) => cost(candidate) === least);
    if (left.length <= 1) break;
  }
  return left[0];
}

function earliestStart(victims: readonly PodInfo[]): number {
  const highest = victims[0]?.priority;
  return Math.min(...victims.filter(({ priority }) => priority === highest).map(startOf));
}

import type { Node, Pod } from '@tinkernetes/api';
import {
  findUntoleratedTaint,
  podRequests,
  Quantity,
  quantitiesOf,
  requiredNodeAffinityMatches,
} from '@tinkernetes/apimachinery';
import type { PodVerdict } from './pod-status';

export interface AdmissionContext {
  /** undefined: not read yet; then only what needs no Node is checked. */
  node: Node | undefined;
  /** Pods that are on the node and not finished, without the one in question. */
  others: readonly Pod[];
  /** One of them with what it has been given in place of what it asks for. */
  given(other: Pod): Pod;
}

/**
 * Whether the node takes a Pod; if not, what the Pod's status says. The scheduler looked at all of this before, but
 * static Pods and those with a nodeName of their own come past it.
 * Source: pkg/kubelet/lifecycle/predicate.go, handlers.go.
 */
export function refusalOf(pod: Pod, { node, ...among }: AdmissionContext): PodVerdict | undefined {
  return (
    osRefusal(pod) ??
    (node && selectorRefusal(pod, node)) ??
    (node && taintRefusal(pod, node)) ??
    (node && resourceRefusal(pod, node, among))
  );
}

function osRefusal(pod: Pod): PodVerdict | undefined {
  const wanted = pod.spec.nodeSelector?.['kubernetes.io/os'];
  if (wanted && wanted !== 'linux') {
    return {
      reason: 'PodOSSelectorNodeLabelDoesNotMatch',
      message: "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    };
  }
  if (pod.spec.os && pod.spec.os.name !== 'linux') {
    return {
      reason: 'PodOSNotSupported',
      message: "Failed to admit pod as the OS field doesn't match node OS",
    };
  }
  return undefined;
}

function selectorRefusal(pod: Pod, node: Node): PodVerdict | undefined {
  if (requiredNodeAffinityMatches(pod, node)) return undefined;
  return {
    reason: 'NodeAffinity',
    message: "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
  };
}

function taintRefusal(pod: Pod, node: Node): PodVerdict | undefined {
  const taint = findUntoleratedTaint(node.spec?.taints, pod.spec.tolerations, ['NoExecute']);
  if (!taint) return undefined;
  const text = `${taint.key}: ${taint.value ?? ''}`;
  return {
    reason: 'TaintToleration',
    message: `Predicate TaintToleration failed: node(s) had taint {${text}}, that the pod didn't tolerate`,
  };
}

/** Each new Pod is added to all that are there. */
const knownRequests = new WeakMap<Pod, ReturnType<typeof podRequests>>();

function requestsOf(pod: Pod): ReturnType<typeof podRequests> {
  let requests = knownRequests.get(pod);
  if (!requests) knownRequests.set(pod, (requests = podRequests(pod)));
  return requests;
}

/** Whether what is left of the node is too little for the Pod. */
export function resourceRefusal(
  pod: Pod,
  node: Node,
  { others, given }: Pick<AdmissionContext, 'others' | 'given'>,
): PodVerdict | undefined {
  const allocatable = quantitiesOf(node.status?.allocatable);
  const podLimit = allocatable.get('pods');
  if (podLimit && others.length + 1 > podLimit.value()) {
    return outOf('pods', { requested: 1, used: others.length, capacity: podLimit.value() });
  }
  for (const [name, requested] of podRequests(pod)) {
    // Of the cluster, not of a node: a scheduler extender has taken care of it.
    if (requested.isZero || (name.includes('/') && !allocatable.has(name))) continue;
    const capacity = allocatable.get(name) ?? Quantity.zero;
    const used = others.reduce(
      (sum, other) => sum.add(requestsOf(given(other)).get(name) ?? Quantity.zero),
      Quantity.zero,
    );
    if (used.add(requested).compare(capacity) <= 0) continue;
    const number = (q: Quantity) => (name === 'cpu' ? q.milliValue() : q.value());
    return outOf(name, { requested: number(requested), used: number(used), capacity: number(capacity) });
  }
  return undefined;
}

function outOf(
  resource: string,
  { requested, used, capacity }: { requested: number; used: number; capacity: number },
): PodVerdict {
  return {
    reason: `OutOf${resource}`,
    message: `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`,
  };
}

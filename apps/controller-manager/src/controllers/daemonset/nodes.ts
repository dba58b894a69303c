import type { DaemonSet, Node, NodeSelectorTerm, Pod, PodSpec, Toleration } from '@tinkernetes/api';
import { findUntoleratedTaint, requiredNodeAffinityMatches } from '@tinkernetes/apimachinery';

const nameField = 'metadata.name';

/** Daemon Pods stay on nodes with problems of these kinds. Source: daemon/util.AddOrUpdateDaemonPodTolerations. */
const ownTolerations: readonly Toleration[] = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
];
const hostNetworkToleration: Toleration = {
  key: 'node.kubernetes.io/network-unavailable',
  operator: 'Exists',
  effect: 'NoSchedule',
};

function daemonTolerations(spec: PodSpec): Toleration[] {
  const added = spec.hostNetwork ? [...ownTolerations, hostNetworkToleration] : ownTolerations;
  const given = (spec.tolerations ?? []).filter(
    (t) =>
      !added.some(
        (a) =>
          a.key === t.key &&
          a.effect === t.effect &&
          a.operator === t.operator &&
          !t.tolerationSeconds &&
          !t.value,
      ),
  );
  return [...given, ...added];
}

export interface NodeDecision {
  shouldRun: boolean;
  /** A Pod that is there already may stay. */
  shouldContinue: boolean;
}

/** Source: k8s.io/kubernetes/pkg/controller/daemon NodeShouldRunDaemonPod. */
export function decideForNode(set: DaemonSet, node: Node): NodeDecision {
  const spec = set.spec.template.spec ?? { containers: [] };
  const pod = { metadata: { name: '' }, spec } as Pod;
  const fitsName = !spec.nodeName || spec.nodeName === node.metadata.name;
  if (!fitsName || !requiredNodeAffinityMatches(pod, node))
    return { shouldRun: false, shouldContinue: false };
  const taints = [
    ...(node.spec.taints ?? []),
    ...(node.spec.unschedulable
      ? [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' as const }]
      : []),
  ];
  const tolerations = daemonTolerations(spec);
  if (!findUntoleratedTaint(taints, tolerations)) return { shouldRun: true, shouldContinue: true };
  return { shouldRun: false, shouldContinue: !findUntoleratedTaint(taints, tolerations, ['NoExecute']) };
}

/** The node a daemon Pod is on, or is meant for while the scheduler has not bound it. */
export function targetNode(pod: Pod): string | undefined {
  if (pod.spec.nodeName) return pod.spec.nodeName;
  const terms =
    pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return terms
    .flatMap((term) => term.matchFields ?? [])
    .find((f) => f.key === nameField && f.operator === 'In')?.values?.[0];
}

/** The template's spec bound to one node by affinity, so that the scheduler still checks resources and ports. */
export function specForNode(spec: PodSpec, nodeName: string): PodSpec {
  const matchFields: NodeSelectorTerm['matchFields'] = [
    { key: nameField, operator: 'In', values: [nodeName] },
  ];
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms = required?.nodeSelectorTerms?.length
    ? required.nodeSelectorTerms.map((term) => ({ ...term, matchFields }))
    : [{ matchFields }];
  return {
    ...spec,
    affinity: {
      ...spec.affinity,
      nodeAffinity: {
        ...spec.affinity?.nodeAffinity,
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms },
      },
    },
    tolerations: daemonTolerations(spec),
  };
}

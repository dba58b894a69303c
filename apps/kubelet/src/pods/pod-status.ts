import type {
  Container,
  ContainerStatus,
  Pod,
  PodCondition,
  PodStatus,
  ResourceRequirements,
} from '@tinkernetes/api';
import { formatTime } from '@tinkernetes/component-base';
import type { PodRuntimeStatus } from '../runtime/pod-runtime-status';
import { qosClassOf } from '../runtime/resources';
import type { ResizeCondition } from '../allocation/allocation-manager';
import type { WaitingContainers } from '../runtime/runtime-manager';
import { containerStatuses, type ContainerStatusContext } from './container-statuses';
import { podConditions } from './pod-conditions';
import { isHostNetwork, isPhaseTerminal } from './pod-facts';
import { podPhase, type PodPhase } from './pod-phase';

/** Why the kubelet itself ended a Pod: eviction, deadline, refusal. */
export interface PodVerdict {
  reason: string;
  message: string;
  /** Conditions to add, e.g. DisruptionTarget. */
  conditions?: readonly PodCondition[];
  /** The node never took the Pod: there is nothing to tell of its containers. */
  isRejection?: true;
}

/** The verdict on a Pod that the node does not take. Source: pkg/kubelet rejectPod. */
export const rejection = ({ reason, message }: PodVerdict): PodVerdict => ({
  reason,
  message: `Pod was rejected: ${message}`,
  isRejection: true,
});

export interface PodStatusContext {
  runtime: PodRuntimeStatus;
  runtimeName: string;
  hostIPs: readonly string[];
  waiting: WaitingContainers;
  messages: ReadonlyMap<string, string>;
  /** What was last reported for this Pod, or what the API server had. */
  previous: PodStatus | undefined;
  verdict: PodVerdict | undefined;
  resize: readonly ResizeCondition[];
  actualResources(container: Container, id: string): ResourceRequirements | undefined;
  /** Nothing of the Pod will run again. */
  terminal: boolean;
  /** Epoch milliseconds. */
  now: number;
  isReady(container: Container, id: string): boolean;
  isStarted(container: Container, id: string): boolean;
}

/** The status that the kubelet reports. Source: pkg/kubelet generateAPIPodStatus. */
export function podStatus(pod: Pod, context: PodStatusContext): PodStatus {
  const { previous, runtime, verdict } = context;
  if (verdict?.isRejection || wasRejected(context)) return rejectedStatus(pod, context);
  const statuses = allStatuses(pod, context);
  const computed = podPhase(pod, statuses, context.terminal);
  const phase = settledPhase(computed, previous, verdict);
  const conditions = withTimes(
    podConditions(pod, {
      phase,
      ...statuses,
      runtime,
      resize: context.resize,
      existing: pod.status?.conditions ?? [],
    }),
    { previous, now: context.now, generation: pod.metadata.generation },
  );
  for (const extra of verdict?.conditions ?? []) {
    const before = previous?.conditions?.find((c) => c.type === extra.type);
    conditions.push(
      before ?? { lastProbeTime: undefined, lastTransitionTime: formatTime(context.now), ...extra },
    );
  }
  const ips = isHostNetwork(pod) ? context.hostIPs : podIPs(context);
  return {
    ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
    phase,
    conditions,
    ...(verdict ? { reason: verdict.reason, message: verdict.message } : kept(previous)),
    hostIP: context.hostIPs[0],
    hostIPs: context.hostIPs.map((ip) => ({ ip })),
    ...(ips[0] ? { podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) } : {}),
    startTime: previous?.startTime ?? formatTime(context.now),
    ...(statuses.init.length > 0 ? { initContainerStatuses: statuses.init } : {}),
    containerStatuses: statuses.regular,
    ...(statuses.ephemeral.length > 0 ? { ephemeralContainerStatuses: statuses.ephemeral } : {}),
    qosClass: previous?.qosClass ?? qosClassOf(pod),
    ...resourcesOf(pod),
  };
}

/** What the Pod as a whole has been given (KEP-2837). */
function resourcesOf({ spec: { resources } }: Pod): Pick<PodStatus, 'allocatedResources' | 'resources'> {
  if (!resources) return {};
  return { ...(resources.requests ? { allocatedResources: resources.requests } : {}), resources };
}

/** By a kubelet that ran here before this one. */
const wasRejected = ({ previous, runtime }: PodStatusContext): boolean =>
  previous?.phase === 'Failed' && !previous.containerStatuses && runtime.containers.length === 0;

function rejectedStatus(pod: Pod, { previous, verdict, now }: PodStatusContext): PodStatus {
  const { reason = previous?.reason, message = previous?.message } = verdict ?? {};
  return {
    ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
    phase: 'Failed',
    ...(reason ? { reason } : {}),
    ...(message ? { message } : {}),
    startTime: previous?.startTime ?? formatTime(now),
    qosClass: previous?.qosClass ?? qosClassOf(pod),
  };
}

/** A verdict once given stays. */
function kept(previous: PodStatus | undefined): Pick<PodStatus, 'reason' | 'message'> {
  if (!isPhaseTerminal(previous?.phase)) return {};
  const { reason, message } = previous ?? {};
  return { ...(reason ? { reason } : {}), ...(message ? { message } : {}) };
}

function podIPs({ runtime, previous }: PodStatusContext): readonly string[] {
  if (runtime.ips.length > 0) return runtime.ips;
  return (previous?.podIPs ?? []).flatMap(({ ip }) => (ip ? [ip] : []));
}

/** A terminal phase is final. */
function settledPhase(
  computed: PodPhase,
  previous: PodStatus | undefined,
  verdict: PodVerdict | undefined,
): PodPhase {
  if (previous?.phase === 'Succeeded' || previous?.phase === 'Failed') return previous.phase;
  return verdict ? 'Failed' : computed;
}

const isRestartingAllContainers = (previous: PodStatus | undefined): boolean =>
  previous?.conditions?.some((c) => c.type === 'AllContainersRestarting' && c.status === 'True') ?? false;

function allStatuses(pod: Pod, context: PodStatusContext) {
  const of = (
    kind: 'init' | 'regular' | 'ephemeral',
    containers: readonly Container[] | undefined,
    previous: readonly ContainerStatus[] | undefined,
  ) => {
    const isRestarting = kind !== 'ephemeral' && isRestartingAllContainers(context.previous);
    const nested: ContainerStatusContext = { ...context, previous: previous ?? [], isRestarting };
    return containerStatuses(pod, kind, containers ?? [], nested);
  };
  return {
    init: of('init', pod.spec.initContainers, context.previous?.initContainerStatuses),
    regular: of('regular', pod.spec.containers, context.previous?.containerStatuses),
    ephemeral: of('ephemeral', pod.spec.ephemeralContainers, context.previous?.ephemeralContainerStatuses),
  };
}

function withTimes(
  verdicts: ReturnType<typeof podConditions>,
  {
    previous,
    now,
    generation,
  }: { previous: PodStatus | undefined; now: number; generation: number | undefined },
): PodCondition[] {
  return [...verdicts].map(([type, verdict]) => {
    const before = previous?.conditions?.find((c) => c.type === type);
    return {
      type,
      ...(generation === undefined ? {} : { observedGeneration: generation }),
      lastTransitionTime:
        before?.status === verdict.status && before.lastTransitionTime
          ? before.lastTransitionTime
          : formatTime(now),
      ...verdict,
    };
  });
}

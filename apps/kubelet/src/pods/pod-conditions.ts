import type { ContainerStatus, Pod, PodCondition } from '@tinkernetes/api';
import { hasReadySandbox, type PodRuntimeStatus } from '../runtime/pod-runtime-status';
import { mayRestartAllContainers, restartsAllContainers } from '../runtime/restart-policy';
import { isSidecar } from './pod-facts';
import type { ResizeCondition } from '../allocation/allocation-manager';
import type { PodPhase } from './pod-phase';

type Verdict = Pick<PodCondition, 'status' | 'reason' | 'message'>;

export interface ConditionContext {
  phase: PodPhase;
  init: readonly ContainerStatus[];
  regular: readonly ContainerStatus[];
  runtime: PodRuntimeStatus;
  resize: readonly ResizeCondition[];
  /** The Pod's conditions so far, for readiness gates that others set. */
  existing: readonly PodCondition[];
}

/** Conditions that the kubelet owns, without times. Source: pkg/kubelet/status generate.go. */
export function podConditions(pod: Pod, context: ConditionContext): Map<string, Verdict> {
  const containersReady = containersReadyVerdict(pod, context);
  return new Map<string, Verdict>([
    ['PodReadyToStartContainers', { status: readyToStart(pod, context.runtime) ? 'True' : 'False' }],
    ['Initialized', initializedVerdict(pod, context)],
    ['Ready', readyVerdict(pod, containersReady, context.existing)],
    ['ContainersReady', containersReady],
    ['PodScheduled', { status: 'True' }],
    ...(mayRestartAllContainers(pod)
      ? [['AllContainersRestarting', restartingVerdict(pod, context)] as const]
      : []),
    ...context.resize.map(({ type, reason, message }): [string, Verdict] => [
      type,
      { status: 'True', ...(reason ? { reason } : {}), ...(message ? { message } : {}) },
    ]),
  ]);
}

function readyToStart(pod: Pod, runtime: PodRuntimeStatus): boolean {
  return hasReadySandbox(runtime) && (pod.spec.hostNetwork === true || runtime.ips.length > 0);
}

function initializedVerdict(pod: Pod, { phase, init, regular }: ConditionContext): Verdict {
  const containers = pod.spec.initContainers ?? [];
  if (phase === 'Succeeded' && containers.length > 0) return { status: 'True', reason: 'PodCompleted' };
  const started = regular.some((s) => s.state?.running || s.state?.terminated || s.lastState?.terminated);
  if (started || containers.length === 0) return { status: 'True' };
  const incomplete = containers.filter((c) => {
    const status = init.find((s) => s.name === c.name);
    return isSidecar(c) ? !status?.started : !(status?.state?.terminated?.exitCode === 0);
  });
  if (incomplete.length === 0) return { status: 'True' };
  return {
    status: 'False',
    reason: 'ContainersNotInitialized',
    message: `containers with incomplete status: [${incomplete.map((c) => c.name).join(' ')}]`,
  };
}

/** Source: pkg/kubelet/status GenerateAllContainersRestartingCondition. */
function restartingVerdict(pod: Pod, { phase, runtime }: ConditionContext): Verdict {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  const names = [...(pod.spec.initContainers ?? []), ...pod.spec.containers].map(({ name }) => name);
  const isAnyLeft = runtime.containers.some(({ name }) => names.includes(name));
  if (!isAnyLeft || !restartsAllContainers(pod, runtime)) return { status: 'False' };
  return {
    status: 'True',
    reason: 'RestartAllContainersStarted',
    message: 'container exited with restart policy rule',
  };
}

function containersReadyVerdict(pod: Pod, { phase, init, regular }: ConditionContext): Verdict {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  const sidecars = (pod.spec.initContainers ?? []).filter(isSidecar);
  const statuses = [...init, ...regular];
  const unready = [...sidecars, ...pod.spec.containers].filter(
    (c) => !statuses.find((s) => s.name === c.name)?.ready,
  );
  if (unready.length === 0) return { status: 'True' };
  return {
    status: 'False',
    reason: 'ContainersNotReady',
    message: `containers with unready status: [${unready.map((c) => c.name).join(' ')}]`,
  };
}

function readyVerdict(pod: Pod, containersReady: Verdict, existing: readonly PodCondition[]): Verdict {
  if (containersReady.status !== 'True') return containersReady;
  const messages = (pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const condition = existing.find((c) => c.type === conditionType);
    if (!condition)
      return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
    if (condition.status === 'True') return [];
    return [`the status of pod readiness gate "${conditionType}" is not "True", but ${condition.status}`];
  });
  if (messages.length === 0) return { status: 'True' };
  return { status: 'False', reason: 'ReadinessGatesNotReady', message: messages.join(', ') };
}

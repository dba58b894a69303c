import type { Container, Pod } from '@tinkernetes/api';
import { isSidecar } from '../pods/pod-facts';
import { kill, reasonToKill, type ContainerKill, type ProbeResults } from './container-kill';
import { findContainer, type PodRuntimeStatus, type RuntimeContainer } from './pod-runtime-status';
import { restartsAfter } from './restart-policy';

export interface InitContainerActions {
  start: Container[];
  kill: ContainerKill[];
  /** The regular containers may run. */
  initialized: boolean;
  /** An init container failed for good. */
  failed: boolean;
}

/**
 * Init containers run one after the other; a sidecar only has to be started (its startup probe passed) before the
 * next one may run, and is kept running from then on. Source: pkg/kubelet/kuberuntime computeInitContainerActions.
 */
export function initContainerActions(
  pod: Pod,
  status: PodRuntimeStatus,
  probes: ProbeResults,
): InitContainerActions {
  const inits = pod.spec.initContainers ?? [];
  const result: InitContainerActions = { start: [], kill: [], initialized: false, failed: false };
  // A regular container proves that all init containers ran, even where the runtime forgot them since.
  const ranBefore = pod.spec.containers.some((c) => findContainer(status, c.name));
  if (ranBefore) {
    for (const container of inits.filter(isSidecar)) keepSidecar(container, status, probes, result);
    return { ...result, initialized: true };
  }
  for (const container of inits) {
    const current = findContainer(status, container.name);
    const done = isSidecar(container)
      ? keepSidecar(container, status, probes, result)
      : runOnce(pod, container, current, result);
    if (!done) return result;
  }
  return { ...result, initialized: true };
}

/** True once it has succeeded. */
function runOnce(
  pod: Pod,
  container: Container,
  current: RuntimeContainer | undefined,
  result: InitContainerActions,
): boolean {
  if (current?.state === 'running') return false;
  if (current?.state === 'exited') {
    if (current.exitCode === 0) return true;
    if (!restartsAfter(pod, container, current)) {
      result.failed = true;
      return false;
    }
  }
  if (current?.state === 'unknown') result.kill.push(kill(current, container, 'unknown-state', true));
  result.start.push(container);
  return false;
}

/** True once it is started, so that the next container may run. */
function keepSidecar(
  container: Container,
  status: PodRuntimeStatus,
  probes: ProbeResults,
  result: InitContainerActions,
): boolean {
  const current = findContainer(status, container.name);
  if (current?.state !== 'running') {
    if (current?.state === 'unknown') result.kill.push(kill(current, container, 'unknown-state', true));
    result.start.push(container);
    return false;
  }
  const reason = reasonToKill(container, current, probes);
  if (reason) {
    result.kill.push(kill(current, container, reason, true));
    result.start.push(container);
    return false;
  }
  return !container.startupProbe || probes.startup(current.id) === 'success';
}

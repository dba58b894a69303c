import type { ContainerStatus, Pod } from '@tinkernetes/api';
import { restartsAfter } from '../runtime/restart-policy';
import { isRestartingAll } from './container-statuses';
import { isSidecar } from './pod-facts';

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

export interface PhaseStatuses {
  init: readonly ContainerStatus[];
  regular: readonly ContainerStatus[];
}

/**
 * The Pod's phase from the states of its containers. `terminal`: nothing of it will run again.
 * Source: pkg/kubelet getPhase; https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-phase
 */
export function podPhase(pod: Pod, { init, regular }: PhaseStatuses, terminal: boolean): PodPhase {
  let pendingInit = 0;
  let failedInit = 0;
  let sidecarsRunning = 0;
  for (const container of pod.spec.initContainers ?? []) {
    const status = init.find((s) => s.name === container.name);
    const ended =
      status?.state?.terminated ?? (status?.state?.waiting ? status.lastState?.terminated : undefined);
    if (status && isRestartingAll(status)) pendingInit++;
    else if (isSidecar(container)) {
      if (status?.state?.running) sidecarsRunning++;
      if (!status?.started && !ended) pendingInit++;
    } else if (!ended) pendingInit++;
    else if (ended.exitCode !== 0) {
      if (terminal || !restartsAfter(pod, container, ended)) failedInit++;
      else pendingInit++;
    }
  }
  if (failedInit > 0) return 'Failed';
  let running = 0;
  let waiting = 0;
  let stopped = 0;
  let succeeded = 0;
  let restarting = 0;
  for (const container of pod.spec.containers) {
    const status = regular.find((s) => s.name === container.name);
    const ended = status?.state?.terminated;
    const last = status?.lastState?.terminated;
    if (status?.state?.running) running++;
    else if (ended) {
      stopped++;
      if (ended.exitCode === 0) succeeded++;
      if (restartsAfter(pod, container, ended)) restarting++;
    } else if (last) {
      stopped++;
      if (isRestartingAll(status) || restartsAfter(pod, container, last)) restarting++;
    } else waiting++;
  }
  // Once a regular container has run, init containers are history.
  if (pendingInit > 0 && running === 0 && stopped === 0) return 'Pending';
  if (waiting > 0) return 'Pending';
  if (running > 0) return 'Running';
  if (stopped === 0) return 'Pending';
  if (terminal) return stopped === succeeded ? 'Succeeded' : 'Failed';
  if (restarting > 0) return 'Running';
  if (sidecarsRunning > 0) return 'Running';
  return stopped === succeeded ? 'Succeeded' : 'Failed';
}

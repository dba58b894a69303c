import type { Container, Pod } from '@tinkernetes/api';
import { isHostNetwork } from '../pods/pod-facts';
import { kill, reasonToKill, type ContainerKill, type ProbeResults } from './container-kill';
import { initContainerActions } from './init-container-actions';
import { findContainer, type PodRuntimeStatus, type RuntimeContainer } from './pod-runtime-status';
import { restartsAfter, restartsAllContainers, restartsOnFailure } from './restart-policy';

/** What one sync of a Pod has to do, computed before anything is done. */
export interface PodActions {
  killPod: boolean;
  /** The sandbox to use; undefined when one has to be made. */
  sandboxId: string | undefined;
  createSandbox: boolean;
  /** The number of the sandbox to make. */
  attempt: number;
  initContainersToStart: Container[];
  containersToStart: Container[];
  ephemeralContainersToStart: Container[];
  containersToKill: ContainerKill[];
  /** All that the Pod has run goes, and it begins again in its sandbox. */
  restartAll?: { container: Container; exited: RuntimeContainer };
}

/** Source: pkg/kubelet/kuberuntime computePodActions. */
export function computePodActions(pod: Pod, status: PodRuntimeStatus, probes: ProbeResults): PodActions {
  const sandbox = sandboxDecision(pod, status);
  const actions: PodActions = {
    killPod: sandbox.create,
    createSandbox: sandbox.create,
    sandboxId: sandbox.id,
    attempt: sandbox.attempt,
    initContainersToStart: [],
    containersToStart: [],
    ephemeralContainersToStart: [],
    containersToKill: [],
  };
  if (sandbox.create) return withNewSandbox(pod, status, actions);
  const restartAll = restartsAllContainers(pod, status);
  if (restartAll) return { ...actions, restartAll };

  actions.ephemeralContainersToStart = (pod.spec.ephemeralContainers ?? []).filter(
    (c) => !findContainer(status, c.name),
  );
  const init = initContainerActions(pod, status, probes);
  actions.initContainersToStart = init.start;
  actions.containersToKill.push(...init.kill);
  if (init.failed) return { ...actions, killPod: true };
  if (!init.initialized) return actions;

  let kept = 0;
  for (const container of pod.spec.containers) {
    const current = findContainer(status, container.name);
    if (!current || current.state !== 'running') {
      if (!current || current.state === 'created' || restartsAfter(pod, container, current)) {
        actions.containersToStart.push(container);
        if (current?.state === 'unknown') {
          actions.containersToKill.push(kill(current, container, 'unknown-state'));
        }
      }
      continue;
    }
    const reason = reasonToKill(container, current, probes);
    if (!reason) {
      kept++;
      continue;
    }
    const restart = reason === 'definition-changed' || restartsOnFailure(pod, container);
    actions.containersToKill.push(kill(current, container, reason, restart));
    if (restart) actions.containersToStart.push(container);
  }
  if (kept === 0 && actions.containersToStart.length === 0) {
    // Sidecars end with the containers they serve.
    return { ...actions, killPod: true, initContainersToStart: [] };
  }
  return actions;
}

function withNewSandbox(pod: Pod, status: PodRuntimeStatus, actions: PodActions): PodActions {
  const ranBefore = actions.attempt !== 0 && status.containers.length > 0;
  if (ranBefore && pod.spec.restartPolicy === 'Never') return { ...actions, createSandbox: false };
  const start = pod.spec.containers.filter((c) => {
    const current = findContainer(status, c.name);
    return !(pod.spec.restartPolicy === 'OnFailure' && current?.state === 'exited' && current.exitCode === 0);
  });
  if (start.length === 0) return { ...actions, createSandbox: false };
  const [first] = pod.spec.initContainers ?? [];
  return first ? { ...actions, initContainersToStart: [first] } : { ...actions, containersToStart: start };
}

/** Whether the Pod needs a (new) sandbox. Source: pkg/kubelet/kuberuntime/util PodSandboxChanged. */
function sandboxDecision(
  pod: Pod,
  status: PodRuntimeStatus,
): { create: boolean; attempt: number; id: string | undefined } {
  const [newest] = status.sandboxes;
  if (!newest) return { create: true, attempt: 0, id: undefined };
  const next = { create: true, attempt: newest.attempt + 1, id: newest.id };
  const ready = status.sandboxes.filter((s) => s.state === 'SANDBOX_READY').length;
  if (ready > 1 || newest.state !== 'SANDBOX_READY') return next;
  if (newest.isHostNetwork !== isHostNetwork(pod)) return { ...next, id: undefined };
  if (!isHostNetwork(pod) && !newest.ip) return next;
  return { create: false, attempt: newest.attempt, id: newest.id };
}

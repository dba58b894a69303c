import type { Container, Pod } from '@tinkernetes/api';
import { isSidecar } from '../pods/pod-facts';
import { findContainer, type PodRuntimeStatus, type RuntimeContainer } from './pod-runtime-status';

/**
 * Whether an exited container runs again. Per-container policy and exit-code rules (KEP-5307) go before the Pod's
 * policy. Source: pkg/kubelet/container ShouldContainerBeRestarted.
 */
export function restartsAfter(
  pod: Pod,
  container: Container,
  exited: Pick<RuntimeContainer, 'exitCode'>,
): boolean {
  if (isSidecar(container)) return true;
  if (matchingRule(container, exited.exitCode)) return true;
  switch (container.restartPolicy ?? pod.spec.restartPolicy ?? 'Always') {
    case 'Never':
      return false;
    case 'OnFailure':
      return exited.exitCode !== 0;
    default:
      return true;
  }
}

/** Whether the container may ever be restarted after a failure (a failed probe, a new definition). */
export function restartsOnFailure(pod: Pod, container: Container): boolean {
  return (container.restartPolicy ?? pod.spec.restartPolicy ?? 'Always') !== 'Never';
}

/** What is said of a container that was taken away for the restart of its whole Pod (KEP-5532). */
export const restartingAllContainers = {
  reason: 'RestartingAllContainers',
  message: 'The container is removed because RestartAllContainers in place',
};

/**
 * The container whose end restarts the whole Pod in place; undefined: none did.
 * Source: pkg/kubelet/container ShouldAllContainersRestart.
 */
export function restartsAllContainers(
  pod: Pod,
  status: PodRuntimeStatus,
): { container: Container; exited: RuntimeContainer } | undefined {
  for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
    const exited = findContainer(status, container.name);
    if (exited?.state !== 'exited') continue;
    if (matchingRule(container, exited.exitCode)?.action === 'RestartAllContainers')
      return { container, exited };
  }
  return undefined;
}

/** Whether a container of the Pod may ever restart all of them. */
export const mayRestartAllContainers = ({ spec }: Pod): boolean =>
  [...(spec.initContainers ?? []), ...spec.containers].some(({ restartPolicyRules = [] }) =>
    restartPolicyRules.some(({ action }) => action === 'RestartAllContainers'),
  );

/** The first rule that fits decides. */
function matchingRule(container: Container, exitCode: number) {
  return (container.restartPolicyRules ?? []).find(({ exitCodes }) => {
    const listed = (exitCodes?.values ?? []).includes(exitCode);
    return exitCodes?.operator === 'In' ? listed : exitCodes?.operator === 'NotIn' && !listed;
  });
}

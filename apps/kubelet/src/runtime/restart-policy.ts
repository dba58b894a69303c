import type { Container, Pod } from '@tinkernetes/api';
import { isSidecar } from '../pods/pod-facts';
import type { RuntimeContainer } from './pod-runtime-status';

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
  if (matchesRestartRule(container, exited.exitCode)) return true;
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

function matchesRestartRule(container: Container, exitCode: number): boolean {
  return (container.restartPolicyRules ?? []).some(({ action, exitCodes }) => {
    if (action !== 'Restart' || !exitCodes) return false;
    const listed = (exitCodes.values ?? []).includes(exitCode);
    return exitCodes.operator === 'In' ? listed : exitCodes.operator === 'NotIn' && !listed;
  });
}

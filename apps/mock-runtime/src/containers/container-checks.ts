import { CriError, type ContainerConfig } from '@tinkernetes/cri';

/** What containerd refuses of a container. */
export function checkContainer({ linux, mounts }: ContainerConfig): void {
  const context = linux?.securityContext;
  if (context?.runAsGroup && !context.runAsUser && context.runAsUsername === '')
    throw new CriError('UNKNOWN', `user group "${context.runAsGroup.value}" is specified without user`);
  for (const { containerPath, readonly, recursiveReadOnly, propagation } of mounts) {
    if (!recursiveReadOnly) continue;
    if (!readonly)
      throw new CriError('UNKNOWN', `recursive read-only mount ${containerPath} must be read-only`);
    if (propagation !== 'PROPAGATION_PRIVATE')
      throw new CriError(
        'UNKNOWN',
        `recursive read-only mount ${containerPath} must have private propagation, not ${propagation}`,
      );
  }
}

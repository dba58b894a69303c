import type { Pod } from '@tinkernetes/api';

/** Keys of the claims that a Pod mounts, its ephemeral volumes' included. */
export const claimsOf = (pod: Pod): string[] =>
  (pod.spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    const claim =
      persistentVolumeClaim?.claimName ?? (ephemeral ? `${pod.metadata.name}-${name}` : undefined);
    return claim ? [`${pod.metadata.namespace}/${claim}`] : [];
  });

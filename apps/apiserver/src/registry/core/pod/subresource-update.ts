import type { Pod, PodSpec } from '@tinkernetes/api';
import { compact } from '@tinkernetes/apimachinery';

/** How upstream writes the path of the object itself. */
export const wholePodPath = '[]';

const mirrorAnnotation = 'kubernetes.io/config.mirror';

/** Whether the Pod only shows one that its node was given as a file. */
export const isMirror = ({ metadata }: Pod): boolean =>
  Object.hasOwn(metadata.annotations ?? {}, mirrorAnnotation);

/** The old Pod with another specification: metadata and status have other ways. Source: pod strategy.dropPodUpdates. */
export const withSpecOnly = (pod: Pod, old: Pod, spec: PodSpec): Pod => ({
  ...old,
  metadata: compact({ ...old.metadata, managedFields: pod.metadata.managedFields }),
  spec,
});

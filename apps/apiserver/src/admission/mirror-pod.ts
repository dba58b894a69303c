import type { Pod } from '@tinkernetes/api';

/** A static Pod's image in the API, made by its kubelet. */
export const isMirrorPod = (pod: Pod): boolean =>
  pod.metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined;

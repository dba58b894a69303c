import type { Container, Pod } from '@tinkernetes/api';
import { podAnnotations } from '../runtime/labels';

export type PodUID = string;

export const uidOf = (pod: Pod): PodUID => pod.metadata.uid ?? '';

/** `name_namespace(uid)`: how the kubelet names a Pod in its messages. */
export const podText = (pod: Pod): string =>
  `${pod.metadata.name}_${pod.metadata.namespace ?? ''}(${uidOf(pod)})`;

/** An init container that runs on beside the others: `restartPolicy: Always` (KEP-753). */
export const isSidecar = (container: Container): boolean => container.restartPolicy === 'Always';

export const isStaticPod = (pod: Pod): boolean => {
  const source = pod.metadata.annotations?.[podAnnotations.configSource];
  return source !== undefined && source !== 'api';
};

export const isMirrorPod = (pod: Pod): boolean =>
  pod.metadata.annotations?.[podAnnotations.configMirror] !== undefined;

export const isHostNetwork = (pod: Pod): boolean => pod.spec.hostNetwork === true;

export const isPhaseTerminal = (phase: string | undefined): boolean =>
  phase === 'Succeeded' || phase === 'Failed';

export type ContainerKind = 'init' | 'regular' | 'ephemeral';
export interface PodContainer {
  kind: ContainerKind;
  container: Container;
}

/** Init, regular and ephemeral containers, in the order of their start. */
export function allContainers(pod: Pod): PodContainer[] {
  return [
    ...(pod.spec.initContainers ?? []).map((container) => ({ kind: 'init' as const, container })),
    ...pod.spec.containers.map((container) => ({ kind: 'regular' as const, container })),
    ...(pod.spec.ephemeralContainers ?? []).map((container) => ({ kind: 'ephemeral' as const, container })),
  ];
}

/** `involvedObject.fieldPath` of a container's events. */
export function containerFieldPath(pod: Pod, name: string): string {
  const found = allContainers(pod).find((c) => c.container.name === name);
  const list = { init: 'initContainers', regular: 'containers', ephemeral: 'ephemeralContainers' };
  return `spec.${list[found?.kind ?? 'regular']}{${name}}`;
}

/** Of a mount's recursiveReadOnly: a runtime that can't do it would refuse the container. */
export const isRecursive = (wanted: string | undefined): boolean =>
  wanted === 'Enabled' || wanted === 'IfPossible';

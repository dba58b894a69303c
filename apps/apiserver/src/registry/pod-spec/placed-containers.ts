import type { Container, PodSpec } from '@tinkernetes/api';
import { child, index } from '@tinkernetes/apimachinery';

export type Placed = readonly [Container, string];

/** All containers with their paths, in the order in which upstream visits them. */
export function placedContainers(spec: PodSpec, path: string): Placed[] {
  const lists = ['initContainers', 'containers', 'ephemeralContainers'] as const;
  return lists.flatMap((list) =>
    ((spec[list] ?? []) as Container[]).map(
      (container, i) => [container, index(child(path, list), i)] as const,
    ),
  );
}

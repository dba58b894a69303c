import type { Pod } from '@tinkernetes/api';
import type { StepOptions, TraceParent } from '@tinkernetes/component-base';

/** What every step of a Pod's trace says of itself. */
export function podStep(
  node: string,
  pod: Pod,
  parent: TraceParent | undefined,
  attributes?: StepOptions['attributes'],
): StepOptions {
  const { name, namespace, uid } = pod.metadata;
  return { parent, node, object: { kind: 'Pod', namespace, name, uid }, attributes };
}

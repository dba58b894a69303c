import type { PodTemplateSpec, ReplicaSet } from '@tinkernetes/api';
import { canonicalContent, contentHash } from '../shared/content-hash';

export const hashLabel = 'pod-template-hash';

/** A short name for a template's content, and for the collision count. */
export const podTemplateHash = (template: PodTemplateSpec, collisionCount = 0): string =>
  contentHash(template, collisionCount);

/** Equal but for the hash label, as templates of a Deployment and of its ReplicaSet are. */
export function sameTemplate(a: PodTemplateSpec, b: PodTemplateSpec): boolean {
  return canonicalContent(withoutHash(a)) === canonicalContent(withoutHash(b));
}

/** The ReplicaSet of the Deployment's template; the oldest where there are several. */
export function findNewReplicaSet(
  template: PodTemplateSpec,
  sets: readonly ReplicaSet[],
): ReplicaSet | undefined {
  return [...sets]
    .sort(
      (a, b) =>
        (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? '') ||
        a.metadata.name.localeCompare(b.metadata.name),
    )
    .find((set) => set.spec.template && sameTemplate(set.spec.template, template));
}

function withoutHash(template: PodTemplateSpec): PodTemplateSpec {
  const { [hashLabel]: _, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}

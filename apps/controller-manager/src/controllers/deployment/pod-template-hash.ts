import type { PodTemplateSpec, ReplicaSet } from '@tinkernetes/api';

export const hashLabel = 'pod-template-hash';
/** Letters and digits of generated names (k8s.io/apimachinery/pkg/util/rand.SafeEncodeString). */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/**
 * A short name for a template's content: FNV-1a over its canonical JSON, and over the collision count. The value only
 * has to be stable and well spread; upstream hashes Go's own printed form, which no other program could reproduce.
 */
export function podTemplateHash(template: PodTemplateSpec, collisionCount = 0): string {
  const text = canonical(template) + (collisionCount > 0 ? String(collisionCount) : '');
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash ^= text.charCodeAt(i);
    hash = Math.imul(hash, 0x01000193) >>> 0;
  }
  return [...String(hash)].map((digit) => alphabet[digit.charCodeAt(0) % alphabet.length]).join('');
}

/** Equal but for the hash label, as templates of a Deployment and of its ReplicaSet are. */
export function sameTemplate(a: PodTemplateSpec, b: PodTemplateSpec): boolean {
  return canonical(withoutHash(a)) === canonical(withoutHash(b));
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

/** JSON with sorted keys, and without what is absent or empty metadata. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).filter(
    ([key, v]) => v !== undefined && v !== null && key !== 'creationTimestamp',
  );
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, v]) => `${JSON.stringify(key)}:${canonical(v)}`)
    .join(',')}}`;
}

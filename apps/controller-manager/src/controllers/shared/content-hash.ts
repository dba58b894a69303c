/** Letters and digits of generated names (k8s.io/apimachinery/pkg/util/rand.SafeEncodeString). */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/**
 * A short name for an object's content: FNV-1a over its canonical JSON and over the collision count. The value only
 * has to be stable and well spread; upstream hashes Go's own printed form, which no other program could reproduce.
 */
export function contentHash(content: object, collisionCount = 0): string {
  const text = canonicalContent(content) + (collisionCount > 0 ? String(collisionCount) : '');
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash ^= text.charCodeAt(i);
    hash = Math.imul(hash, 0x01000193) >>> 0;
  }
  return [...String(hash)].map((digit) => alphabet[digit.charCodeAt(0) % alphabet.length]).join('');
}

/** JSON with sorted keys, without members that are absent and without creation times. */
export function canonicalContent(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalContent).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).filter(
    ([key, v]) => v !== undefined && v !== null && key !== 'creationTimestamp',
  );
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, v]) => `${JSON.stringify(key)}:${canonicalContent(v)}`)
    .join(',')}}`;
}

/**
 * What caches must have reached, by resource: `pods=120,replicasets.apps=125`. The higher version of each resource wins.
 */
export function mergeRevisions(a: string | undefined, b: string | undefined): string | undefined {
  if (!a || !b || a === b) return a ?? b;
  const merged = parseRevisions(a);
  for (const [resource, version] of parseRevisions(b))
    if (version > (merged.get(resource) ?? -1n)) merged.set(resource, version);
  return formatRevisions(merged);
}

export function parseRevisions(text: string): Map<string, bigint> {
  const pairs = text.split(',').map((pair) => pair.split('='));
  return new Map(pairs.map(([resource = '', version = '0']) => [resource, BigInt(version)]));
}

export const formatRevisions = (revisions: ReadonlyMap<string, bigint>): string =>
  [...revisions].map(([resource, version]) => `${resource}=${version}`).join(',');

/** Group and version in an `apiVersion`; what has several slashes says nothing. Source: schema.FromAPIVersionAndKind. */
export function splitApiVersion(apiVersion: string): [group: string, version: string] {
  const [first = '', second, ...rest] = apiVersion.split('/');
  if (rest.length > 0) return ['', ''];
  return second === undefined ? ['', first] : [first, second];
}

/** What protobuf documents of an OpenAPI version are called. */
export const protobufType = (version: 'v2' | 'v3'): string =>
  `application/com.github.proto-openapi.spec.${version}.v1.0+protobuf`;

/** The name before it was found to be no valid media type; clients still ask by it. */
const deprecatedType = (version: 'v2' | 'v3'): string =>
  `application/com.github.proto-openapi.spec.${version}@v1.0+protobuf`;

/** The first format that the client takes, by its preferences; undefined: none. Source: kube-openapi/pkg/handler. */
export function acceptedFormat(
  accept: string | undefined,
  version: 'v2' | 'v3',
): 'json' | 'protobuf' | undefined {
  for (const type of byPreference(accept || '*/*')) {
    if (['application/json', 'application/*', '*/*'].includes(type)) return 'json';
    if (type === protobufType(version) || type === deprecatedType(version)) return 'protobuf';
  }
  return undefined;
}

function byPreference(accept: string): string[] {
  const clauses = accept.split(',').map((clause) => {
    const [type = '', ...parameters] = clause.split(';').map((part) => part.trim());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    return { type, quality: quality ? Number(quality.slice(2)) : 1 };
  });
  return clauses.sort((a, b) => b.quality - a.quality).map(({ type }) => type);
}

import { apiVersionOf, loadSchemas, type OpenAPISchema } from '@tinkernetes/api';
import type { ServedResource } from '../registry/generic/served-resource';

/** `com.example.stable.v1.CronTab` for a custom kind, the full schema name for a built-in one. */
export function schemaNameFor({ codec, descriptor }: ServedResource): string {
  if (codec.schemaName) return codec.schemaName;
  return [...descriptor.group.split('.').reverse(), descriptor.version, descriptor.kind].join('.');
}

const metaPackage = 'io.k8s.apimachinery.pkg.apis.meta.v1';

/** The schema of a custom resource as OpenAPI shows it: with what every object has. */
export function customSchema({ descriptor, schema = {} }: ServedResource): OpenAPISchema {
  const { group, version, kind } = descriptor;
  const body = schema as OpenAPISchema;
  return {
    ...body,
    type: 'object',
    properties: {
      ...body.properties,
      apiVersion: {
        type: 'string',
        description: 'APIVersion defines the versioned schema of this representation of an object.',
      },
      kind: { type: 'string', description: 'Kind is the REST resource this object represents.' },
      metadata: { $ref: `#/${metaPackage}.ObjectMeta` },
    },
    'x-kubernetes-group-version-kind': [{ group, version, kind }],
  };
}

/** The list kind of a custom resource. */
export function customListSchema(resource: ServedResource): OpenAPISchema {
  const { group, version } = resource.descriptor;
  return {
    type: 'object',
    description: `${resource.listKind} is a list of ${apiVersionOf(resource.descriptor)} ${resource.descriptor.kind}`,
    required: ['items'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { $ref: `#/${metaPackage}.ListMeta` },
      items: { type: 'array', items: { $ref: `#/${schemaNameFor(resource)}` } },
    },
    'x-kubernetes-group-version-kind': [{ group, version, kind: resource.listKind }],
  };
}

/** All schemas that the named ones refer to, directly or not. */
export function closureOf(
  names: Iterable<string>,
  own: Readonly<Record<string, OpenAPISchema>>,
): Record<string, OpenAPISchema> {
  const facts = loadSchemas();
  const out: Record<string, OpenAPISchema> = {};
  const pending = [...names];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (out[name]) continue;
    const schema = own[name] ?? facts[name];
    if (!schema) continue;
    out[name] = schema;
    pending.push(...(own[name] ? referencesIn(schema) : knownReferences(name, schema)));
  }
  return Object.fromEntries(Object.entries(out).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const references = new Map<string, readonly string[]>();

/** Built-in schemas never change. */
function knownReferences(name: string, schema: OpenAPISchema): readonly string[] {
  let known = references.get(name);
  if (!known) references.set(name, (known = [...referencesIn(schema)]));
  return known;
}

function* referencesIn(value: unknown): Iterable<string> {
  if (Array.isArray(value)) {
    for (const item of value) yield* referencesIn(item);
    return;
  }
  if (value === null || typeof value !== 'object') return;
  for (const [key, inner] of Object.entries(value)) {
    if (key === '$ref' && typeof inner === 'string') yield inner.slice(2);
    else yield* referencesIn(inner);
  }
}

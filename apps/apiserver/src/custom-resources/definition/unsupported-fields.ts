import { isObject } from '@tinkernetes/apimachinery';
import type { Schema } from '../structural-schema';

/** Fields that no structural schema has, with the name that upstream gives them. */
const unsupported = {
  id: 'id',
  $schema: 'schema',
  $ref: '$ref',
  patternProperties: 'patternProperties',
  dependencies: 'dependencies',
  additionalItems: 'additionalItems',
  definitions: 'definitions',
} as const satisfies Partial<Record<keyof Schema, string>>;

const partsOf = (schema: Schema): readonly unknown[] => [
  ...(schema.allOf ?? []),
  ...(schema.anyOf ?? []),
  ...(schema.oneOf ?? []),
  schema.not,
  schema.items,
  ...Object.values(schema.properties ?? {}),
  schema.additionalProperties,
];

/**
 * Why a schema can't even be read as a structural one; undefined: it can. Source:
 * apiextensions-apiserver/pkg/apiserver/schema/convert.go (NewStructural).
 */
export function unreadable(schema: Schema): string | undefined {
  for (const [field, name] of Object.entries(unsupported)) {
    const value = schema[field as keyof typeof unsupported];
    const isGiven =
      isObject(value) && field !== 'additionalItems' ? Object.keys(value).length > 0 : Boolean(value);
    if (isGiven) return `OpenAPIV3Schema '${name}' is not supported`;
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  }
  if (Array.isArray(schema.items) && schema.items.length > 0) {
    return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  }
  for (const part of partsOf(schema)) {
    const reason = isObject(part) ? unreadable(part) : undefined;
    if (reason !== undefined) return reason;
  }
  return undefined;
}

import type { OpenAPISchema, SchemaFacts } from '@tinkernetes/api';

/** A schema with its `$ref` followed; what stands beside the reference (list types, patch strategies) wins. */
export function resolveSchema(
  schema: OpenAPISchema | undefined,
  schemas: SchemaFacts,
): OpenAPISchema | undefined {
  if (!schema) return undefined;
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (!reference) return schema;
  const known = resolved.get(schema);
  if (known) return known;
  const target = schemas[reference.slice(2)];
  if (!target) return schema;
  const merged = { ...target, ...schema, $ref: undefined, allOf: undefined };
  resolved.set(schema, merged);
  structNames.set(merged, shortName(reference));
  return merged;
}

/** The schema of a kind. */
export function rootSchema(schemaName: string, schemas: SchemaFacts): OpenAPISchema | undefined {
  const schema = resolveSchema(schemas[schemaName], schemas);
  if (schema) structNames.set(schema, shortName(schemaName));
  return schema;
}

const shortName = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

/** Go's name of the struct that a looked-up schema describes. */
export const structName = (schema: OpenAPISchema | undefined): string =>
  (schema && structNames.get(schema)) ?? '';

const structNames = new WeakMap<OpenAPISchema, string>();

/** Schemas never change, and field ownership resolves the same few for every field of every write. */
const resolved = new WeakMap<OpenAPISchema, OpenAPISchema>();

/** The schema of a member: a property, or a value of a map; undefined where the schema knows no such member. */
export function memberSchema(
  schema: OpenAPISchema | undefined,
  key: string,
  schemas: SchemaFacts,
): OpenAPISchema | undefined {
  if (!schema) return undefined;
  const property =
    schema.properties && Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
  return resolveSchema(property ?? schema.additionalProperties, schemas);
}

export const itemSchema = (
  schema: OpenAPISchema | undefined,
  schemas: SchemaFacts,
): OpenAPISchema | undefined => resolveSchema(schema?.items, schemas);

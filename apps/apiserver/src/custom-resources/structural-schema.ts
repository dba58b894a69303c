import { isObject } from '@tinkernetes/apimachinery';
import type { JSONSchemaProps } from '@tinkernetes/api';

/** A node of a CRD's schema. */
export type Schema = JSONSchemaProps;

/** The schema of a list's elements; undefined where there is none, or one for each element, which no definition may have. */
export const itemsOf = (schema: Schema): Schema | undefined =>
  isObject(schema.items) ? schema.items : undefined;

/** The schema of a map's values; true stands for any. */
export function valuesOf(schema: Schema): Schema | undefined {
  const { additionalProperties } = schema;
  if (additionalProperties === undefined || additionalProperties === false) return undefined;
  return additionalProperties === true
    ? { 'x-kubernetes-preserve-unknown-fields': true }
    : (additionalProperties as Schema);
}

export const propertyOf = (schema: Schema, name: string): Schema | undefined =>
  schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;

/** The value at a simple path like `.spec.replicas`. */
export function valueAt(object: unknown, path: string): unknown {
  let value = object;
  for (const key of path.split('.').slice(1)) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** A copy with the value at a simple path set; missing objects on the way are made. */
export function withValueAt(
  object: Record<string, unknown>,
  path: readonly string[],
  value: unknown,
): Record<string, unknown> {
  const [key, ...rest] = path;
  if (key === undefined) return object;
  if (rest.length === 0) return { ...object, [key]: value };
  const inner = object[key];
  return { ...object, [key]: withValueAt(isObject(inner) ? inner : {}, rest, value) };
}

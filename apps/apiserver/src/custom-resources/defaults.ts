import { isObject } from '@tinkernetes/apimachinery';
import { itemsOf, valuesOf, type Schema } from './structural-schema';

/**
 * The value with the schema's defaults filled in. A null that its schema does not allow gives way to the default; a field
 * goes where there is none. Source: apiextensions-apiserver, defaulting.PruneNonNullableNullsWithoutDefaults.
 * Returns the same value where nothing is missing.
 */
export function withDefaults(value: unknown, schema: Schema): unknown {
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    if (!items) return value;
    const out = value.map((item) => withDefaults(item, items));
    return out.some((item, i) => item !== value[i]) ? out : value;
  }
  if (!isObject(value)) return value;
  let out = value;
  const set = (key: string, next: unknown) => {
    if (out === value) out = { ...value };
    out[key] = next;
  };
  const drop = (key: string) => {
    if (out === value) out = { ...value };
    delete out[key];
  };
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const given = Object.hasOwn(value, key) ? value[key] : undefined;
    const replaced = given === undefined || (given === null && !property.nullable);
    if (replaced && property.default !== undefined) set(key, withDefaults(property.default, property));
    else if (given === null && replaced) drop(key);
    else if (given !== undefined && given !== null) {
      const next = withDefaults(given, property);
      if (next !== given) set(key, next);
    }
  }
  const values = valuesOf(schema);
  if (values) {
    for (const [key, given] of Object.entries(value)) {
      if (schema.properties && Object.hasOwn(schema.properties, key)) continue;
      if (given === null && !values.nullable) {
        drop(key);
        continue;
      }
      const next = withDefaults(given, values);
      if (next !== given) set(key, next);
    }
  }
  return out;
}

/** Whether any part of the schema has a default, so that reads can skip looking for them. */
export function hasDefaults(schema: Schema): boolean {
  if (schema.default !== undefined) return true;
  const items = itemsOf(schema);
  const values = valuesOf(schema);
  return (
    Object.values(schema.properties ?? {}).some(hasDefaults) ||
    (items !== undefined && hasDefaults(items)) ||
    (values !== undefined && hasDefaults(values))
  );
}

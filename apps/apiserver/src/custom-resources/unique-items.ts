import { canonicalJson, child, duplicate, index, invalid, isObject, mapKey } from '@tinkernetes/apimachinery';
import type { FieldError } from '../contracts';
import { itemsOf, propertyOf, valuesOf, type Schema } from './structural-schema';

/** Lists that are sets or maps hold each element once. Source: apiextensions-apiserver/pkg/apiserver/schema/listtype. */
export function duplicateErrors(value: unknown, schema: Schema, path: string): FieldError[] {
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    const inner = items ? value.flatMap((item, i) => duplicateErrors(item, items, index(path, i))) : [];
    return [...ownErrors(value, schema, path), ...inner];
  }
  if (!isObject(value)) return [];
  const values = isObject(schema.additionalProperties) ? valuesOf(schema) : undefined;
  return Object.entries(value).flatMap(([key, inner]) => {
    const property = propertyOf(schema, key);
    return [
      ...(values ? duplicateErrors(inner, values, mapKey(path, key)) : []),
      ...(property ? duplicateErrors(inner, property, child(path, key)) : []),
    ];
  });
}

function ownErrors(value: readonly unknown[], schema: Schema, path: string): FieldError[] {
  const type = schema['x-kubernetes-list-type'];
  if (type !== 'set' && type !== 'map') return [];
  if (type === 'set') return repeated(value, path);
  const stranger = value.findIndex((item) => item !== null && !isObject(item));
  if (stranger >= 0) {
    const detail = 'must be an object for an array of list-type map';
    return [invalid(index(path, stranger), value[stranger], detail)];
  }
  const keys = [...(schema['x-kubernetes-list-map-keys'] ?? [])];
  return repeated(
    value.map((item) => keysOf(item, keys)),
    path,
  );
}

function keysOf(item: unknown, keys: readonly string[]): Record<string, unknown> {
  if (!isObject(item)) return {};
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(item, key)).map((key) => [key, item[key]]));
}

/** Each that is there twice or more often is told once. */
function repeated(values: readonly unknown[], path: string): FieldError[] {
  const times = new Map<string, number>();
  return values.flatMap((value, i) => {
    const text = canonicalJson(value);
    const before = times.get(text) ?? 0;
    times.set(text, before + 1);
    return before === 1 ? [duplicate(index(path, i), JSON.parse(text))] : [];
  });
}

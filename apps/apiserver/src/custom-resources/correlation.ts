import { deepEqual, isObject } from '@tinkernetes/apimachinery';
import type { Schema } from './structural-schema';

/** An element of a list as it was before; undefined where it can't be told. Source: apiserver/pkg/cel/common/equality.go. */
export function correlatedItem(item: unknown, old: unknown, schema: Schema): unknown {
  if (schema['x-kubernetes-list-type'] !== 'map' || !isObject(item) || !Array.isArray(old)) return undefined;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  return old.find((other) => isObject(other) && keys.every((key) => deepEqual(other[key], item[key])));
}

import { isObject } from '@tinkernetes/apimachinery';
import type { Schema } from '../structural-schema';

/**
 * How often a part of a schema can be in an object; undefined: as often as it fits into a request. Source:
 * apiextensions/validation/cel_validation.go.
 */
export type Cardinality = number | undefined;

export function childCardinality(outer: Cardinality, schema: Schema): Cardinality {
  const elements = maxElements(schema);
  return outer === undefined || elements === undefined ? undefined : outer * elements;
}

/** How many parts of one kind a value has at most by its schema. */
function maxElements({ type, additionalProperties, maxProperties, maxItems }: Schema): Cardinality {
  const isMap = type === 'object' && (isObject(additionalProperties) || additionalProperties === true);
  if (isMap) return notNegative(maxProperties);
  return type === 'array' ? notNegative(maxItems) : 1;
}

const notNegative = (value: number | undefined): Cardinality =>
  value === undefined ? undefined : Math.max(0, value);

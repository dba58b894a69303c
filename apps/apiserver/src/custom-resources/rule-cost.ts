import type { CelProgram, Shape } from '@tinkernetes/cel';
import { itemsOf, propertyOf, valuesOf, type Schema } from './structural-schema';

/** A request body holds at most this many bytes, which bounds everything that its schema does not. */
const maxBody = 3 * 1024 * 1024;
/** Of one character in UTF-8: lengths in schemas are characters. */
const maxCharacterBytes = 4;

/** The worst case of a rule over values of the schema. */
export function estimatedCost(program: CelProgram, self: Schema): number {
  const shape = shapeOf(self);
  return program.estimate({ self: shape, oldSelf: shape });
}

/** A schema as estimates see it; parts are made when they are asked for. */
function shapeOf(schema: Schema): Shape {
  const items = itemsOf(schema);
  const values = valuesOf(schema);
  return {
    size: sizeOf(schema),
    kind: schema.type === 'string' ? 'string' : items ? 'list' : values ? 'map' : 'other',
    member: (name) => {
      const property = propertyOf(schema, name);
      return property && shapeOf(property);
    },
    get element() {
      const inner = items ?? values;
      return inner && shapeOf(inner);
    },
    get key() {
      return values && shapeOf({ type: 'string' });
    },
  };
}

/** Elements of a list or map, bytes of a string. Source: k8s.io/apiserver/pkg/cel/common (SchemaDeclType). */
function sizeOf(schema: Schema): number {
  if (schema.type === 'string') return longestText(schema);
  return maxElements(schema) ?? unboundedElements(schema);
}

function longestText({ maxLength, enum: values, format }: Schema): number {
  if (values?.length) return Math.max(...values.map((value) => String(value).length));
  if (format === 'date') return 'YYYY-MM-DD'.length;
  if (format === 'date-time') return 'YYYY-MM-DDThh:mm:ss.sssssssss+hh:mm'.length;
  return maxLength === undefined ? maxBody - 2 : maxLength * maxCharacterBytes;
}

/** How many elements a list or map has at most by its schema; 1 for what is neither. */
function maxElements(schema: Schema): number | undefined {
  if (itemsOf(schema)) return schema.maxItems;
  return valuesOf(schema) ? schema.maxProperties : 1;
}

function unboundedElements(schema: Schema): number {
  const inner = itemsOf(schema);
  if (inner) return Math.floor(maxBody / (smallestSize(inner) + 1));
  const values = valuesOf(schema);
  // Key, colon and comma.
  return values ? Math.floor(maxBody / (smallestSize(values) + 3)) : 1;
}

/** Bytes that a value takes at least. */
function smallestSize(schema: Schema): number {
  switch (schema.type) {
    case 'object':
      return 2 + (schema.required ?? []).reduce((sum, name) => sum + requiredSize(schema, name), 0);
    case 'boolean':
      return 4;
    case 'integer':
    case 'number':
      return 1;
    default:
      return 2;
  }
}

/** A field with its quotes, colon and comma; what has a default may be left out. */
function requiredSize(schema: Schema, name: string): number {
  const property = propertyOf(schema, name);
  return !property || property.default !== undefined ? 0 : name.length + 4 + smallestSize(property);
}

/**
 * How often a rule of a part of a schema runs for one object: once, or for each element of the lists and maps that it
 * is in. Undefined: as often as the part fits into a request.
 */
export type Cardinality = number | undefined;

export const withinElements = (outer: Cardinality, schema: Schema): Cardinality => {
  const elements = maxElements(schema);
  return outer === undefined || elements === undefined ? undefined : outer * elements;
};

export const timesRun = (cardinality: Cardinality, schema: Schema): number =>
  cardinality ?? Math.floor(maxBody / (smallestSize(schema) + 1));

import { isObject } from '@tinkernetes/apimachinery';
import { celTypes, escapedName, type CelType, type SizeOf } from '@tinkernetes/cel';
import { itemsOf, valuesOf, type Schema } from '../structural-schema';

/** What expressions know of a part of a schema. Source: k8s.io/apiserver/pkg/cel/common (SchemaDeclType). */
export interface DeclaredType {
  readonly type: CelType;
  /** How many elements or bytes a value has at most. */
  readonly maxElements: number;
  /** Bytes of JSON that a value takes at least. */
  readonly minSize: number;
  readonly fields?: Readonly<Record<string, DeclaredType>>;
  readonly element?: DeclaredType;
  readonly key?: DeclaredType;
}

/** A request body holds at most this many bytes, which bounds everything that its schema does not. */
const maxRequest = 3 * 1024 * 1024;
/** Lengths in schemas are characters, of which each can take that many bytes. */
const characterBytes = 4;
/** Bytes of a duration or time at most. */
const maxTime = 32;
const dateSize = 12;

const scalar = (type: CelType, minSize: number, maxElements = 0): DeclaredType => ({
  type,
  minSize,
  maxElements,
});
const text = scalar(celTypes.string, 2);

/** Undefined where a schema says too little for expressions. `name`: of the type, if it has fields. */
export function declaredType(schema: Schema, isResource: boolean, name: string): DeclaredType | undefined {
  if (schema['x-kubernetes-int-or-string']) {
    return scalar(celTypes.dyn, 1, boundedText(schema) ?? maxRequest - 2);
  }
  switch (schema.type) {
    case 'array':
      return listType(schema, name);
    case 'object':
      return objectType(schema, isResource, name);
    case 'string':
      return textType(schema);
    case 'boolean':
      return scalar(celTypes.bool, 4);
    case 'number':
      return scalar(celTypes.double, 1);
    case 'integer':
      return scalar(celTypes.int, 1);
    default:
      return undefined;
  }
}

const isEmbedded = (schema: Schema): boolean => schema['x-kubernetes-embedded-resource'] === true;

function listType(schema: Schema, name: string): DeclaredType | undefined {
  const items = itemsOf(schema);
  const element = items && declaredType(items, isEmbedded(items), `${name}.@idx`);
  if (!element) return undefined;
  const maxElements = schema.maxItems ?? Math.floor((maxRequest - 2) / (element.minSize + 1));
  return { type: celTypes.listOf(element.type), maxElements: Math.max(0, maxElements), minSize: 2, element };
}

function objectType(schema: Schema, isResource: boolean, name: string): DeclaredType | undefined {
  const values = isObject(schema.additionalProperties) ? valuesOf(schema) : undefined;
  if (values) return mapType(schema, declaredType(values, isEmbedded(values), `${name}.@elem`));
  const { properties = {}, required = [] } = schema;
  const fields: Record<string, DeclaredType> = {};
  let minSize = 2;
  for (const [key, property] of Object.entries(isResource ? withMeta(properties) : properties)) {
    const field = declaredType(property, isEmbedded(property), `${name}.${key}`);
    if (!field) continue;
    fields[escapedName(key)] = field;
    // With its quotes, colon and comma; what has a default may be left out.
    const isThere = required.includes(key) && (property.default ?? null) === null;
    if (isThere) minSize += key.length + field.minSize + 4;
  }
  const types = Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, field.type]));
  return { type: celTypes.structOf(name, types), maxElements: 0, minSize, fields };
}

function mapType(schema: Schema, element: DeclaredType | undefined): DeclaredType | undefined {
  if (!element) return undefined;
  const maxElements = schema.maxProperties ?? Math.floor((maxRequest - 2) / (element.minSize + 6));
  return {
    type: celTypes.mapOf(celTypes.string, element.type),
    maxElements: Math.max(0, maxElements),
    minSize: 2,
    element,
    key: text,
  };
}

/** Of metadata, expressions see the names. */
const withMeta = (properties: Readonly<Record<string, Schema>>): Record<string, Schema> => ({
  ...properties,
  kind: { type: 'string' },
  apiVersion: { type: 'string' },
  metadata: { type: 'object', properties: { name: { type: 'string' }, generateName: { type: 'string' } } },
});

const boundedText = ({ maxLength }: Schema): number | undefined =>
  maxLength === undefined ? undefined : Math.max(0, maxLength) * characterBytes;

function textType(schema: Schema): DeclaredType {
  switch (schema.format) {
    case 'byte':
      return scalar(celTypes.bytes, 2, schema.maxLength ?? maxRequest - 2);
    case 'duration':
      return scalar(celTypes.duration, 3, maxTime);
    case 'date':
      return scalar(celTypes.timestamp, dateSize, dateSize);
    case 'date-time':
      return scalar(celTypes.timestamp, 21, maxTime);
    default:
      return scalar(celTypes.string, 2, boundedText(schema) ?? longestOf(schema.enum) ?? maxRequest - 2);
  }
}

function longestOf(values: readonly unknown[] | undefined): number | undefined {
  if (!values?.length) return undefined;
  return Math.max(...values.map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : 0)));
}

/** How large the parts of a value can be, by their paths from it. */
export const sizesIn =
  (root: DeclaredType): SizeOf =>
  (path) => {
    let at: DeclaredType | undefined = root;
    for (const name of path.slice(1)) {
      if (name === '@items' || name === '@values') at = at.element;
      else if (name === '@keys') at = at.key;
      else at = at.fields && Object.hasOwn(at.fields, name) ? at.fields[name] : undefined;
      if (!at) return undefined;
    }
    return at.maxElements;
  };

/** How often a value can be in a request at most. */
export const maxCardinality = ({ minSize }: DeclaredType): number => Math.floor(maxRequest / (minSize + 1));

import type { OpenAPISchema, SchemaFacts } from '@tinkernetes/api';
import { canonicalJson, isObject } from '../deep';
import { itemSchema, memberSchema } from '../schema-lookup';

/** How a value is owned: as one thing, field by field, or element by element. */
export type Typing = 'leaf' | 'map' | 'list-map' | 'set';

/** A schema together with what its references mean. */
export interface Typed {
  readonly schema: OpenAPISchema | undefined;
  readonly schemas: SchemaFacts;
}

/**
 * What a value of this schema is to ownership. Where the schema says nothing (unknown fields that are kept), maps are
 * owned by field and lists as one thing.
 */
export function typingOf({ schema }: Typed, value: unknown): Typing {
  if (schema === undefined || schema.type === undefined) {
    const isScalar = schema !== undefined && !isPreserving(schema);
    return isObject(value) && !isScalar ? 'map' : 'leaf';
  }
  if (schema.type === 'array') {
    if (schema['x-kubernetes-list-type'] === 'map') return 'list-map';
    return schema['x-kubernetes-list-type'] === 'set' ? 'set' : 'leaf';
  }
  if (schema.type !== 'object') return 'leaf';
  if (schema['x-kubernetes-map-type'] === 'atomic') return 'leaf';
  return schema.properties || schema.additionalProperties || isPreserving(schema) ? 'map' : 'leaf';
}

const isPreserving = (schema: OpenAPISchema): boolean =>
  (schema as Record<string, unknown>)['x-kubernetes-preserve-unknown-fields'] === true;

/** What is below a schema, as far as somebody has asked: schemas never change, and every write asks for the same few. */
interface Below {
  readonly fields: Map<string, Typed>;
  others?: Typed;
  item?: Typed;
  /** The keys that tell elements apart, sorted. */
  keys?: readonly string[];
}

const known = new WeakMap<OpenAPISchema, Below>();

function below(schema: OpenAPISchema): Below {
  let found = known.get(schema);
  if (!found) known.set(schema, (found = { fields: new Map() }));
  return found;
}

/** The type of a member; of one that the schema doesn't know nothing is known. */
export function fieldType(type: Typed, name: string): Typed {
  const { schema, schemas } = type;
  if (!schema) return type;
  const found = below(schema);
  const field = found.fields.get(name);
  if (field) return field;
  const made = { schema: memberSchema(schema, name, schemas), schemas };
  // Free maps have any number of keys, which all have the same type.
  if (!isDeclared(type, name)) return (found.others ??= made);
  found.fields.set(name, made);
  return made;
}

export function elementType(type: Typed): Typed {
  const { schema, schemas } = type;
  if (!schema) return type;
  return (below(schema).item ??= { schema: itemSchema(schema, schemas), schemas });
}

/** A field that the struct names; keys of free maps are not. */
export const isDeclared = ({ schema }: Typed, name: string): boolean =>
  !!schema?.properties && Object.hasOwn(schema.properties, name);

/** Whether the struct accepts the field at all. */
export const accepts = (type: Typed, name: string): boolean =>
  isDeclared(type, name) ||
  type.schema === undefined ||
  type.schema.additionalProperties !== undefined ||
  isPreserving(type.schema) ||
  !type.schema.properties;

/** The path element of a list's element; missing keys have their schema's default. */
export function elementOf(type: Typed, typing: 'list-map' | 'set', value: unknown): string {
  if (typing === 'set') return `v:${JSON.stringify(value)}`;
  const map = isObject(value) ? value : {};
  const properties = elementType(type).schema?.properties;
  const pairs = keysOf(type).map((key) => {
    const given = Object.hasOwn(map, key) ? map[key] : undefined;
    return `${JSON.stringify(key)}:${canonicalJson(given ?? properties?.[key]?.default ?? null)}`;
  });
  return `k:{${pairs.join(',')}}`;
}

function keysOf({ schema }: Typed): readonly string[] {
  if (!schema) return [];
  return (below(schema).keys ??= [...(schema['x-kubernetes-list-map-keys'] ?? [])].sort());
}

export interface KeyedElements {
  /** By path element, in the list's order; of duplicates the first. */
  readonly elements: Map<string, unknown>;
  /** The path elements that the list has more than once. */
  readonly repeated: ReadonlySet<string>;
}

const none: ReadonlySet<string> = new Set<string>();

/** The elements of a list that are owned one by one. */
export function keyedElements(type: Typed, typing: 'list-map' | 'set', list: unknown): KeyedElements {
  const elements = new Map<string, unknown>();
  let repeated: Set<string> | undefined;
  for (const value of Array.isArray(list) ? (list as unknown[]) : []) {
    const element = elementOf(type, typing, value);
    if (elements.has(element)) (repeated ??= new Set()).add(element);
    else elements.set(element, value);
  }
  return { elements, repeated: repeated ?? none };
}

/** The elements of a list by path element, in order; the first of duplicates. */
export const elementsOf = (type: Typed, typing: 'list-map' | 'set', list: unknown): Map<string, unknown> =>
  keyedElements(type, typing, list).elements;

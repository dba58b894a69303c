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

export const fieldType = ({ schema, schemas }: Typed, name: string): Typed => ({
  schema: memberSchema(schema, name, schemas),
  schemas,
});
export const elementType = ({ schema, schemas }: Typed): Typed => ({
  schema: itemSchema(schema, schemas),
  schemas,
});

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
  const keys = [...(type.schema?.['x-kubernetes-list-map-keys'] ?? [])].sort();
  const item = elementType(type);
  const map = isObject(value) ? value : {};
  const pairs = keys.map((key) => {
    const given = Object.hasOwn(map, key) ? map[key] : undefined;
    return [key, given ?? item.schema?.properties?.[key]?.default ?? null] as const;
  });
  return `k:${canonicalJson(Object.fromEntries(pairs))}`;
}

/** The path elements that a list has more than once. */
export function repeatedElements(type: Typed, typing: 'list-map' | 'set', list: unknown): Set<string> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const value of Array.isArray(list) ? (list as unknown[]) : []) {
    const element = elementOf(type, typing, value);
    if (seen.has(element)) repeated.add(element);
    seen.add(element);
  }
  return repeated;
}

/** The elements of a list by path element, in order; the first of duplicates. */
export function elementsOf(type: Typed, typing: 'list-map' | 'set', list: unknown): Map<string, unknown> {
  const elements = new Map<string, unknown>();
  for (const value of Array.isArray(list) ? (list as unknown[]) : []) {
    const element = elementOf(type, typing, value);
    if (!elements.has(element)) elements.set(element, value);
  }
  return elements;
}

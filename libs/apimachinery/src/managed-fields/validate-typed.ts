import { isObject } from '../deep';
import { formatElement } from './field-set';
import { accepts, elementOf, elementType, fieldType, typingOf } from './typing';
import type { Typed } from './typing';

/** Go's print of a decoded JSON value in structured-merge-diff's messages. */
function goValue(value: unknown): string {
  const inner =
    typeof value === 'string'
      ? JSON.stringify(value)
      : isObject(value) || Array.isArray(value)
        ? JSON.stringify(value)
        : String(value);
  return `&value.valueUnstructured{Value:${inner}}`;
}

/** What keeps a configuration from being applied: `.data.k: expected string, got …`. */
export function typeErrors(value: unknown, type: Typed, path = ''): string[] {
  if (value === null || value === undefined || type.schema === undefined) return [];
  switch (type.schema.type) {
    case 'array':
      return Array.isArray(value)
        ? listErrors(value, type, path)
        : [`${path}: expected list, got ${goValue(value)}`];
    case 'object':
      return isObject(value)
        ? mapErrors(value, type, path)
        : [`${path}: expected map, got ${goValue(value)}`];
    case 'string':
      return typeof value === 'string' ? [] : [`${path}: expected string, got ${goValue(value)}`];
    case 'integer':
    case 'number':
      return typeof value === 'number'
        ? []
        : [`${path}: expected numeric (int or float), got ${typeof value}`];
    case 'boolean':
      return typeof value === 'boolean' ? [] : [`${path}: expected boolean, got ${goValue(value)}`];
    case undefined:
      return [];
  }
}

/**
 * Whether ownership can be told of the value at all: it can't where a field is none of the version's or an element has
 * no key. Source: structured-merge-diff typed.AsTyped, which other mistakes don't reach.
 */
export function isTypable(value: unknown, type: Typed): boolean {
  if (value === null || value === undefined || type.schema === undefined) return true;
  if (isObject(value)) {
    return Object.entries(value).every(
      ([name, member]) =>
        accepts(type, name) && (typeof member !== 'object' || isTypable(member, fieldType(type, name))),
    );
  }
  if (!Array.isArray(value)) return true;
  const item = elementType(type);
  const isKeyed = typingOf(type, value) === 'list-map';
  return value.every(
    (member) => (!isKeyed || omittedKey(member, type) === undefined) && isTypable(member, item),
  );
}

/** The key of a list map that an element neither has nor has a default for. */
function omittedKey(member: unknown, type: Typed): string | undefined {
  const { schema } = elementType(type);
  return type.schema?.['x-kubernetes-list-map-keys']?.find(
    (key) =>
      (!isObject(member) || member[key] === undefined || member[key] === null) &&
      schema?.properties?.[key]?.default === undefined,
  );
}

function mapErrors(map: Record<string, unknown>, type: Typed, path: string): string[] {
  return Object.entries(map).flatMap(([name, member]) => {
    const at = `${path}.${name}`;
    return accepts(type, name)
      ? typeErrors(member, fieldType(type, name), at)
      : [`${at}: field not declared in schema`];
  });
}

function listErrors(list: readonly unknown[], type: Typed, path: string): string[] {
  const typing = typingOf(type, list);
  const item = elementType(type);
  if (typing !== 'list-map' && typing !== 'set') {
    return list.flatMap((member, i) => typeErrors(member, item, `${path}[${i}]`));
  }
  const seen = new Set<string>();
  return list.flatMap((member, i) => {
    const omitted = typing === 'list-map' ? omittedKey(member, type) : undefined;
    if (omitted !== undefined) {
      return [
        `${path}: element ${i}: associative list with keys has an element that omits key field ${JSON.stringify(omitted)} (and doesn't have default value)`,
      ];
    }
    const element = elementOf(type, typing, member);
    const at = formatElement(element);
    const isDuplicate = seen.has(element);
    seen.add(element);
    return [
      ...(isDuplicate ? [`${path}: duplicate entries for key ${at}`] : []),
      ...typeErrors(member, item, path + at),
    ];
  });
}

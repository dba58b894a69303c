import { isObject } from '../deep';
import { goFormat } from '../validation/go-format';
import { formatElement } from './field-set';
import { accepts, elementOf, elementType, fieldType, typingOf } from './typing';
import type { Typed } from './typing';

/** Go's prints of a decoded JSON value in structured-merge-diff's messages: with its types, and without. */
const typedValue = (value: unknown): string => `&value.valueUnstructured{Value:${goSyntax(value)}}`;
const plainValue = (value: unknown): string => `&{${goFormat(value)}}`;

/** As Go's `%#v` prints it. */
function goSyntax(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (!isObject(value)) return value === null ? 'interface {}(nil)' : String(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${goSyntax(value[key])}`);
  return `map[string]interface {}{${members.join(', ')}}`;
}

/** What keeps a configuration from being applied: `.data.k: expected string, got …`. */
export function typeErrors(value: unknown, type: Typed, path = ''): string[] {
  if (value === null || value === undefined || type.schema === undefined) return [];
  switch (type.schema.type) {
    case 'array':
      return Array.isArray(value)
        ? listErrors(value, type, path)
        : [`${path}: expected list, got ${plainValue(value)}`];
    case 'object':
      return isObject(value)
        ? mapErrors(value, type, path)
        : [`${path}: expected map, got ${plainValue(value)}`];
    case 'string':
      return typeof value === 'string' ? [] : [`${path}: expected string, got ${typedValue(value)}`];
    case 'integer':
    case 'number':
      return typeof value === 'number'
        ? []
        : [`${path}: expected numeric (int or float), got ${typeof value}`];
    case 'boolean':
      return typeof value === 'boolean' ? [] : [`${path}: expected boolean, got ${plainValue(value)}`];
    case undefined:
      return [];
  }
}

/**
 * Whether ownership can be told of the value at all: it can't where a field is none of the version's or an element has
 * no key. What it shares with `typable`, of which it can, is not looked into. Source: structured-merge-diff
 * typed.AsTyped, which other mistakes don't reach.
 */
export function isTypable(value: unknown, type: Typed, typable?: unknown): boolean {
  if (value === null || value === undefined || type.schema === undefined) return true;
  if (typeof value !== 'object' || value === typable) return true;
  return Array.isArray(value) ? isTypableList(value, type, typable) : isTypableMap(value, type, typable);
}

function isTypableMap(map: object, type: Typed, typable: unknown): boolean {
  const other = isObject(typable) ? typable : undefined;
  for (const [name, member] of Object.entries(map) as [string, unknown][]) {
    if (!accepts(type, name)) return false;
    if (typeof member === 'object' && !isTypable(member, fieldType(type, name), other?.[name])) return false;
  }
  return true;
}

function isTypableList(list: readonly unknown[], type: Typed, typable: unknown): boolean {
  const other = Array.isArray(typable) ? (typable as readonly unknown[]) : undefined;
  const item = elementType(type);
  const isKeyed = typingOf(type, list) === 'list-map';
  return list.every(
    (member, i) =>
      (!isKeyed || omittedKey(member, type) === undefined) && isTypable(member, item, other?.[i]),
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

/** Nothing more is said of a map after a field that its type doesn't have. */
function mapErrors(map: Record<string, unknown>, type: Typed, path: string): string[] {
  const errors: string[] = [];
  for (const [name, member] of Object.entries(map)) {
    const at = `${path}.${name}`;
    if (!accepts(type, name)) return [...errors, `${at}: field not declared in schema`];
    errors.push(...typeErrors(member, fieldType(type, name), at));
  }
  return errors;
}

function listErrors(list: readonly unknown[], type: Typed, path: string): string[] {
  const typing = typingOf(type, list);
  const item = elementType(type);
  if (typing !== 'list-map' && typing !== 'set') {
    return list.flatMap((member, i) => typeErrors(member, item, `${path}[${i}]`));
  }
  const seen = new Set<string>();
  return list.flatMap((member, i) => {
    const misfit = typing === 'list-map' ? misfitOf(member) : undefined;
    if (misfit) return [`${path}: element ${i}: associative list with keys may not have ${misfit}`];
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

/** What an element of a list map may not be. */
function misfitOf(member: unknown): string | undefined {
  if (member === null) return 'a null element';
  return isObject(member) ? undefined : 'non-map elements';
}

import { deepEqual, isObject, setOwn } from '../deep';
import type { JsonObject } from '../deep';
import { StatusError } from '../status-error';
import { readOperations } from './json-patch-operations';
import type { JsonPatchOperation } from './json-patch-operations';

type Container = JsonObject | unknown[];

/**
 * JSON patch as the API server applies it: RFC 6902, but `replace` of an absent member adds it, `copy` of one adds
 * null, negative indices count from the end, and of all operations only `replace` and `test` know the whole document.
 * An operation that does not apply is a 422. The arguments are not changed. Source: evanphx/json-patch v4, which
 * upstream uses. `isLoose`: operations are looked at one by one, as they are applied.
 */
export function applyJsonPatch(
  document: unknown,
  patch: unknown,
  options: { isLoose?: boolean } = {},
): unknown {
  const operations = readOperations(patch, { isLoose: options.isLoose ?? false });
  return operations.reduce(applyOperation, structuredClone(document));
}

const rejected = (cause: string): StatusError =>
  new StatusError('Invalid', 'the server rejected our request due to an error in our request', {
    details: {},
    cause: new Error(cause),
  });

/** The document, which is changed in place unless another one replaces it. */
function applyOperation(document: unknown, operation: JsonPatchOperation): unknown {
  const { op, path } = operation;
  if (op === 'replace' && path === '') return wholeDocument(operation.value);
  change(document, operation);
  return document;
}

function wholeDocument(value: unknown): unknown {
  if (!isContainer(value)) throw rejected('replace operation value must be object or array');
  return structuredClone(value);
}

function change(document: unknown, { op, path, from = '', value }: JsonPatchOperation): void {
  switch (op) {
    case 'add':
      return add(document, path, structuredClone(value ?? null));
    case 'replace':
      return replace(document, path, structuredClone(value ?? null));
    case 'remove':
      return remove(document, path);
    case 'move': {
      const moved = read(document, from);
      remove(document, from);
      return add(document, path, moved);
    }
    case 'copy':
      return add(document, path, structuredClone(read(document, from) ?? null));
    case 'test':
      return test(document, path, value);
    default:
      throw rejected(`Unexpected kind: ${op}`);
  }
}

const decodeSegment = (segment: string): string => segment.replaceAll('~1', '/').replaceAll('~0', '~');

/** The object or list that holds the last segment of a path. */
function parentOf(document: unknown, path: string): { parent: Container; key: string } {
  const segments = path.split('/');
  if (segments.length < 2) throw rejected(`missing path: ${path}`);
  const keys = segments.slice(1).map(decodeSegment);
  let node = document;
  for (const key of keys.slice(0, -1)) {
    node = isContainer(node) ? member(node, key) : undefined;
  }
  if (!isContainer(node)) throw rejected(`missing path: ${path}`);
  return { parent: node, key: keys.at(-1) ?? '' };
}

const isContainer = (value: unknown): value is Container => isObject(value) || Array.isArray(value);

function member(container: Container, key: string): unknown {
  if (!Array.isArray(container)) return Object.hasOwn(container, key) ? container[key] : undefined;
  const position = existingIndex(container, key);
  return position === undefined ? undefined : container[position];
}

/** As Go's strconv.Atoi reads it. */
const indexOf = (key: string): number => (/^[+-]?\d+$/.test(key) ? Number(key) : NaN);

function existingIndex(list: readonly unknown[], key: string): number | undefined {
  const given = indexOf(key);
  const position = given < 0 ? list.length + given : given;
  return position >= 0 && position < list.length ? position : undefined;
}

/** The value at a path; undefined for an object's absent member. */
function read(document: unknown, path: string): unknown {
  const { parent, key } = parentOf(document, path);
  if (Array.isArray(parent) && existingIndex(parent, key) === undefined)
    throw rejected(`missing value: ${path}`);
  return member(parent, key);
}

function add(document: unknown, path: string, value: unknown): void {
  const { parent, key } = parentOf(document, path);
  if (!Array.isArray(parent)) return setOwn(parent, key, value);
  if (key === '-') {
    parent.push(value);
    return;
  }
  const given = indexOf(key);
  const position = given < 0 ? parent.length + 1 + given : given;
  if (!(position >= 0 && position <= parent.length)) throw rejected(`index out of bounds: ${key}`);
  parent.splice(position, 0, value);
}

function replace(document: unknown, path: string, value: unknown): void {
  const { parent, key } = parentOf(document, path);
  if (!Array.isArray(parent)) return setOwn(parent, key, value);
  const position = existingIndex(parent, key);
  if (position === undefined) throw rejected(`missing key: ${path}`);
  parent[position] = value;
}

function remove(document: unknown, path: string): void {
  const { parent, key } = parentOf(document, path);
  if (Array.isArray(parent)) {
    const position = existingIndex(parent, key);
    if (position === undefined) throw rejected(`missing key: ${path}`);
    parent.splice(position, 1);
  } else {
    if (!Object.hasOwn(parent, key)) throw rejected(`missing key: ${path}`);
    delete parent[key];
  }
}

function test(document: unknown, path: string, expected: unknown): void {
  const actual = path === '' ? document : read(document, path);
  if (!deepEqual(actual ?? null, expected ?? null)) throw rejected(`testing value ${path} failed`);
}

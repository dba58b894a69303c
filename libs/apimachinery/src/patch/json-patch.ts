import { deepEqual, isObject, setOwn } from '../deep';
import type { JsonObject } from '../deep';
import { StatusError } from '../status-error';
import { readOperations } from './json-patch-operations';
import type { JsonPatchOperation } from './json-patch-operations';

type Container = JsonObject | unknown[];

/**
 * JSON patch as the API server applies it: RFC 6902, but `replace` of an absent member adds it, negative indices count
 * from the end, and the whole document cannot be replaced. An operation that does not apply is a 422. The arguments
 * are not changed. Source: evanphx/json-patch v4, which upstream uses.
 */
export function applyJsonPatch(document: unknown, patch: unknown): unknown {
  const result: unknown = structuredClone(document);
  for (const operation of readOperations(patch)) applyOperation(result, operation);
  return result;
}

const rejected = (cause: string): StatusError =>
  new StatusError('Invalid', 'the server rejected our request due to an error in our request', {
    details: {},
    cause: new Error(cause),
  });

function applyOperation(document: unknown, operation: JsonPatchOperation): void {
  const { op, path } = operation;
  switch (op) {
    case 'add':
      return add(document, path, structuredClone(operation.value));
    case 'replace':
      return replace(document, path, structuredClone(operation.value));
    case 'remove':
      return remove(document, path);
    case 'test':
      return test(document, path, operation.value);
    case 'move': {
      const value = read(document, operation.from ?? '');
      remove(document, operation.from ?? '');
      return add(document, path, value);
    }
    case 'copy':
      return add(document, path, structuredClone(read(document, operation.from ?? '')));
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

function existingIndex(list: readonly unknown[], key: string): number | undefined {
  if (!/^-?[0-9]+$/.test(key)) return undefined;
  const position = Number(key) < 0 ? list.length + Number(key) : Number(key);
  return position >= 0 && position < list.length ? position : undefined;
}

function read(document: unknown, path: string): unknown {
  const { parent, key } = parentOf(document, path);
  const value = member(parent, key);
  if (value === undefined) throw rejected(`missing value: ${path}`);
  return value;
}

function add(document: unknown, path: string, value: unknown): void {
  const { parent, key } = parentOf(document, path);
  if (!Array.isArray(parent)) return setOwn(parent, key, value);
  if (key === '-') {
    parent.push(value);
    return;
  }
  if (!/^-?[0-9]+$/.test(key)) throw rejected(`bad index: ${key}`);
  const position = Number(key) < 0 ? parent.length + 1 + Number(key) : Number(key);
  if (position < 0 || position > parent.length) throw rejected(`index out of bounds: ${key}`);
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

/** A missing member passes a test for null. */
function test(document: unknown, path: string, expected: unknown): void {
  const { parent, key } = parentOf(document, path);
  if (!deepEqual(member(parent, key) ?? null, expected ?? null))
    throw rejected(`testing value ${path} failed`);
}

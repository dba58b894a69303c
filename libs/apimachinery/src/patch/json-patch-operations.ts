import { isObject } from '../deep';
import { StatusError } from '../status-error';
import { badRequest } from '../status-builders';

export interface JsonPatchOperation {
  readonly op: string;
  readonly path: string;
  readonly from?: string;
  /** undefined where it was left out. */
  readonly value?: unknown;
}

/** So that one request cannot keep the server busy. Source: apiserver/pkg/endpoints/handlers/patch.go. */
const maxOperations = 10_000;

const goKind = (value: unknown): string =>
  Array.isArray(value)
    ? 'array'
    : isObject(value)
      ? 'object'
      : typeof value === 'boolean'
        ? 'bool'
        : typeof value;

/**
 * The operations of a patch document; a 400 in Go's words where it isn't a list of operations, a 413 for too many.
 * Loosely read, members of other types make an operation that does not apply.
 */
export function readOperations(patch: unknown, { isLoose }: { isLoose: boolean }): JsonPatchOperation[] {
  if (patch === null) return [];
  if (!Array.isArray(patch)) throw undecodable(patch, isLoose ? 'jsonpatch.Patch' : '[]handlers.jsonPatchOp');
  if (patch.length > maxOperations) {
    throw new StatusError(
      'RequestEntityTooLarge',
      `Request entity too large: The allowed maximum operations in a JSON patch is ${maxOperations}, got ${patch.length}`,
    );
  }
  return patch.map((operation) => readOperation(operation, isLoose));
}

function undecodable(value: unknown, goType: string): StatusError {
  const prefix = goType.startsWith('jsonpatch.') ? '' : 'error decoding patch: ';
  return badRequest(`${prefix}json: cannot unmarshal ${goKind(value)} into Go value of type ${goType}`);
}

function readOperation(given: unknown, isLoose: boolean): JsonPatchOperation {
  // To Go's decoder, null is an operation without anything in it.
  const operation = given ?? {};
  if (!isObject(operation))
    throw undecodable(operation, isLoose ? 'jsonpatch.Operation' : 'handlers.jsonPatchOp');
  const read = isLoose ? textOrNothing : text;
  return {
    op: read(operation, 'op'),
    path: read(operation, 'path'),
    from: read(operation, 'from'),
    value: Object.hasOwn(operation, 'value') ? operation.value : undefined,
  };
}

/** What is no text is no name of an operation, and no path. */
function textOrNothing(operation: Record<string, unknown>, key: string): string {
  const value = Object.hasOwn(operation, key) ? operation[key] : undefined;
  return typeof value === 'string' ? value : '';
}

function text(operation: Record<string, unknown>, key: string): string {
  const value = Object.hasOwn(operation, key) ? operation[key] : undefined;
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  throw badRequest(
    `error decoding patch: json: cannot unmarshal ${goKind(value)} into Go struct field jsonPatchOp.${key} of type string`,
  );
}

import { isObject } from '../deep';
import { StatusError } from '../status-error';
import { badRequest } from '../status-builders';

export interface JsonPatchOperation {
  readonly op: string;
  readonly path: string;
  readonly from?: string;
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

/** The operations of a patch document; a 400 in Go's words where it isn't a list of operations, a 413 for too many. */
export function readOperations(patch: unknown): JsonPatchOperation[] {
  if (patch === null) return [];
  if (!Array.isArray(patch)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${goKind(patch)} into Go value of type []handlers.jsonPatchOp`,
    );
  }
  if (patch.length > maxOperations) {
    throw new StatusError(
      'RequestEntityTooLarge',
      `Request entity too large: The allowed maximum operations in a JSON patch is ${maxOperations}, got ${patch.length}`,
    );
  }
  return patch.map(readOperation);
}

function readOperation(operation: unknown): JsonPatchOperation {
  if (!isObject(operation)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${goKind(operation)} into Go value of type handlers.jsonPatchOp`,
    );
  }
  return {
    op: text(operation, 'op'),
    path: text(operation, 'path'),
    from: text(operation, 'from'),
    value: Object.hasOwn(operation, 'value') ? operation.value : null,
  };
}

function text(operation: Record<string, unknown>, key: string): string {
  const value = Object.hasOwn(operation, key) ? operation[key] : undefined;
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  throw badRequest(
    `error decoding patch: json: cannot unmarshal ${goKind(value)} into Go struct field jsonPatchOp.${key} of type string`,
  );
}

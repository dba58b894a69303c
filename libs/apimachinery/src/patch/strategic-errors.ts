import { isObject } from '../deep';
import { badRequest } from '../status-builders';
import { StatusError } from '../status-error';
import { goFormat } from '../validation/go-format';

// What upstream answers to patches that cannot be merged. Only malformed directives are told to be the client's mistake;
// the rest is a 500 without a reason. Source: patch.go's interpretStrategicMergePatchError.

const unexplained = (message: string): StatusError => new StatusError('Unknown', message);

export const noMergeKey = (element: unknown, mergeKey: string): StatusError =>
  unexplained(`map: ${goFormat(element)} does not contain declared merge key: ${mergeKey}`);

export const badPatchType = (type: unknown, map: unknown): StatusError =>
  unexplained(`unknown patch type: ${goText(type)} in map: ${goFormat(map)}`);

export const badRetainKeys = (): StatusError => badRequest('invalid patch format of retainKeys');

export const listsOfLists = (): StatusError =>
  new StatusError('Invalid', 'lists of lists are not supported', { details: {} });

export const mixedElements = (lists: readonly unknown[]): StatusError =>
  unexplained(`list element types are not identical: ${goFormat(lists)}`);

export const noElements = (): StatusError => unexplained('no elements in any of the given slices');

export const noListMergeKey = (): StatusError =>
  unexplained('cannot merge lists without merge key for type struct');

export const cannotMergeLists = (): StatusError =>
  unexplained('merging lists cannot yet be specified in the patch');

export const notAMap = (index: number): StatusError => unexplained(`value for key ${index} is not a map`);

export const wrongType = (expected: 'list' | 'map', received: unknown): StatusError =>
  unexplained(
    `expected a ${expected === 'list' ? '[]interface {}' : 'map[string]interface {}'}, but received a ${received === null ? '%!s(<nil>)' : goTypeOf(received)}`,
  );

export const noField = (struct: string, name: string): StatusError =>
  unexplained(`unable to find api field in struct ${struct} for the json field ${JSON.stringify(name)}`);

export const wrongOrder = (patched: readonly unknown[], order: readonly unknown[]): StatusError =>
  unexplained(
    `The order in patch list:\n${goFormat(patched)}\n doesn't match $setElementOrder list:\n${goFormat(order)}\n`,
  );

/** The Go type in which a JSON value is kept. */
export function goTypeOf(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (isObject(value)) return 'map[string]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** As Go's `%s` prints it. */
function goText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null) return '%!s(<nil>)';
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (isObject(value)) {
    const keys = Object.keys(value).sort();
    return `map[${keys.map((key) => `${key}:${goText(value[key])}`).join(' ')}]`;
  }
  return `%!s(${goTypeOf(value)}=${String(value)})`;
}

import type { OpenAPISchema, SchemaFacts } from '@tinkernetes/api';
import { isObject, setOwn } from '../deep';
import type { JsonObject } from '../deep';
import { memberSchema, resolveSchema } from '../schema-lookup';
import { badRequest } from '../status-builders';
import { StatusError } from '../status-error';
import { goFormat } from '../validation/go-format';
import { identifyBy, orderElements } from './list-order';
import { mergeList } from './strategic-lists';

const orderPrefix = '$setElementOrder/';
const deletePrefix = '$deleteFromPrimitiveList/';
const directive = '$patch';
const retainKeys = '$retainKeys';

/** Where a merge takes its strategies and keys from. */
export interface MergeContext {
  readonly schemas: SchemaFacts;
}

export const badPatchType = (type: unknown, map: unknown): StatusError =>
  new StatusError('Unknown', `unknown patch type: ${goFormat(type)} in map: ${goFormat(map)}`);

/**
 * Strategic merge patch with all its directives; list strategies and merge keys come from the kind's schema. Throws
 * StatusError as the API server answers. The arguments are not changed.
 * Source: https://github.com/kubernetes/community/blob/main/contributors/devel/sig-api-machinery/strategic-merge-patch.md
 */
export function applyStrategicMergePatch(
  original: unknown,
  patch: unknown,
  schemaName: string,
  schemas: SchemaFacts,
): unknown {
  if (patch === null) return original;
  if (!isObject(patch)) throw badRequest('invalid JSON document');
  const schema = resolveSchema(schemas[schemaName], schemas);
  return mergeMap(isObject(original) ? original : {}, patch, schema, { schemas });
}

export function mergeMap(
  original: JsonObject,
  patch: JsonObject,
  schema: OpenAPISchema | undefined,
  context: MergeContext,
): JsonObject {
  if (Object.hasOwn(patch, directive)) return applyMapDirective(patch);
  const result = retained(original, patch);
  const handled = mergeOrderedLists(result, patch, schema, context);
  for (const [patchKey, value] of Object.entries(patch)) {
    if (patchKey === retainKeys || patchKey.startsWith(orderPrefix) || handled.has(patchKey)) continue;
    const isDeleteList = patchKey.startsWith(deletePrefix);
    const key = isDeleteList ? patchKey.slice(deletePrefix.length) : patchKey;
    mergeMember(result, { key, value, isDeleteList }, schema, context);
  }
  return result;
}

interface MemberPatch {
  key: string;
  value: unknown;
  isDeleteList: boolean;
}

function mergeMember(
  result: JsonObject,
  { key, value, isDeleteList }: MemberPatch,
  schema: OpenAPISchema | undefined,
  context: MergeContext,
): void {
  if (value === null) {
    delete result[key];
    return;
  }
  const current = Object.hasOwn(result, key) ? result[key] : undefined;
  const member = memberSchema(schema, key, context.schemas);
  if (current === undefined || current === null) {
    if (!isDeleteList) keepOrDrop(result, key, withoutDirectives(value));
  } else if (isObject(current) && isObject(value)) {
    const merged = strategyOf(member) === 'replace' ? value : mergeMap(current, value, member, context);
    setOwn(result, key, merged);
  } else if (Array.isArray(current) && Array.isArray(value)) {
    const isMerged = isDeleteList || strategyOf(member) === 'merge';
    const merged = isMerged
      ? mergeList({ original: current, patch: value, schema: member, isDeleteList }, context)
      : value;
    setOwn(result, key, merged);
  } else if (!isDeleteList) {
    setOwn(result, key, value);
  }
}

function keepOrDrop(result: JsonObject, key: string, value: unknown): void {
  if (value === undefined) delete result[key];
  else setOwn(result, key, value);
}

/** `merge` or `replace`; retainKeys alone means merge for maps. */
function strategyOf(schema: OpenAPISchema | undefined): 'merge' | 'replace' | undefined {
  const strategies = (schema?.['x-kubernetes-patch-strategy'] ?? '').split(',');
  if (strategies.includes('replace')) return 'replace';
  return strategies.includes('merge') ? 'merge' : undefined;
}

function applyMapDirective(patch: JsonObject): JsonObject {
  const { [directive]: type, ...rest } = patch;
  if (type === 'replace') return rest;
  if (type === 'delete') return {};
  throw badPatchType(type, patch);
}

/** The original, less what `$retainKeys` doesn't name. */
function retained(original: JsonObject, patch: JsonObject): JsonObject {
  if (!Object.hasOwn(patch, retainKeys)) return Object.fromEntries(Object.entries(original));
  const keys = patch[retainKeys];
  if (!Array.isArray(keys)) throw badRequest('invalid patch format of retainKeys');
  const foreign = Object.keys(patch).find((key) => !key.startsWith('$') && !keys.includes(key));
  if (foreign !== undefined) throw badRequest('invalid patch format of retainKeys');
  return Object.fromEntries(Object.entries(original).filter(([key]) => keys.includes(key)));
}

/** Merges the lists that have a `$setElementOrder`; returns their names. */
function mergeOrderedLists(
  result: JsonObject,
  patch: JsonObject,
  schema: OpenAPISchema | undefined,
  context: MergeContext,
): ReadonlySet<string> {
  const handled = new Set<string>();
  for (const [directiveKey, order] of Object.entries(patch)) {
    if (!directiveKey.startsWith(orderPrefix)) continue;
    const key = directiveKey.slice(orderPrefix.length);
    if (!Array.isArray(order)) throw badRequest('invalid patch format of setElementOrder list');
    const current = Object.hasOwn(result, key) ? result[key] : undefined;
    const patched = Object.hasOwn(patch, key) ? patch[key] : undefined;
    if (patched === null || (current === undefined && patched === undefined)) continue;
    handled.add(key);
    const member = memberSchema(schema, key, context.schemas);
    const original = Array.isArray(current) ? current : [];
    const merged = mergeForOrder({ original, patched, member, context });
    const mergeKey = isMapList(merged) ? (member?.['x-kubernetes-patch-merge-key'] ?? '') : '';
    const identify = identifyBy(mergeKey);
    checkOrder(patched, order, mergeKey);
    setOwn(result, key, orderElements(merged, order, original, identify));
  }
  return handled;
}

interface OrderedMerge {
  original: unknown[];
  patched: unknown;
  member: OpenAPISchema | undefined;
  context: MergeContext;
}
function mergeForOrder({ original, patched, member, context }: OrderedMerge): unknown[] {
  if (!Array.isArray(patched)) return original;
  if (original.length === 0) return (withoutDirectives(patched) as unknown[] | undefined) ?? [];
  return strategyOf(member) === 'merge'
    ? mergeList({ original, patch: patched, schema: member, isDeleteList: false }, context)
    : patched;
}

const isMapList = (list: readonly unknown[]): boolean => list.some(isObject);

/** What the patch lists must follow the order that it asks for. */
function checkOrder(patched: unknown, order: readonly unknown[], mergeKey: string): void {
  if (!Array.isArray(patched)) return;
  const identify = identifyBy(mergeKey);
  const wanted = order.map(identify);
  let position = 0;
  for (const element of patched) {
    if (isObject(element) && Object.hasOwn(element, directive)) continue;
    const id = identify(element);
    while (position < wanted.length && wanted[position] !== id) position += 1;
    if (position >= wanted.length) {
      // (kube-apiserver gives 500 here, though it is the client's mistake.)
      throw new StatusError(
        'BadRequest',
        `The order in patch list:\n${goFormat(patched)}\n doesn't match ${orderPrefix}${mergeKey} list:\n${goFormat(order)}\n`,
      );
    }
    position += 1;
  }
}

/** A patch value taken as it is: elements and members with a `$patch` vanish, nulls too. */
export function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isObject(value)) return value;
  if (Object.hasOwn(value, directive)) return undefined;
  const kept = Object.entries(value)
    .filter(([key, member]) => member !== null && key !== retainKeys && !key.startsWith(orderPrefix))
    .filter(([key]) => !key.startsWith(deletePrefix))
    .map(([key, member]) => [key, withoutDirectives(member)] as const)
    .filter(([, member]) => member !== undefined);
  return Object.fromEntries(kept);
}

import type { OpenAPISchema, SchemaFacts } from '@tinkernetes/api';
import { isObject, setOwn } from '../deep';
import type { JsonObject } from '../deep';
import { memberSchema, rootSchema } from '../schema-lookup';
import { badRequest } from '../status-builders';
import {
  deletePrefix,
  directive,
  orderPrefix,
  retainKeys,
  withoutDirectives,
  withoutNulls,
} from './directives';
import { badPatchType, badRetainKeys } from './strategic-errors';
import { mergeList } from './strategic-lists';
import { mergeOrderedLists } from './strategic-order';

/** Where a merge takes its strategies and keys from. */
export interface MergeContext {
  readonly schemas: SchemaFacts;
}

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
  return mergeMap(isObject(original) ? original : {}, patch, rootSchema(schemaName, schemas), { schemas });
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
  if (isObject(current) && isObject(value)) {
    const merged = strategyOf(member) === 'replace' ? value : mergeMap(current, value, member, context);
    setOwn(result, key, merged);
  } else if (Array.isArray(current) && Array.isArray(value)) {
    const lists = { original: current, patch: value, schema: member, isDeleteList };
    const isMerged = isDeleteList || strategyOf(member) === 'merge';
    setOwn(result, key, isMerged ? mergeList(lists, context) : value);
  } else if (!isDeleteList) {
    const kept = withoutDirectives(withoutNulls(value));
    if (kept === undefined) delete result[key];
    else setOwn(result, key, kept);
  }
}

/** `merge` or `replace`; retainKeys alone means merge for maps. */
export function strategyOf(schema: OpenAPISchema | undefined): 'merge' | 'replace' | undefined {
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
  if (!Array.isArray(keys)) throw badRetainKeys();
  const isForeign = (key: string): boolean =>
    key !== retainKeys &&
    patch[key] !== null &&
    !key.startsWith(orderPrefix) &&
    !key.startsWith(deletePrefix) &&
    !keys.includes(key);
  if (Object.keys(patch).some(isForeign)) throw badRetainKeys();
  return Object.fromEntries(Object.entries(original).filter(([key]) => keys.includes(key)));
}

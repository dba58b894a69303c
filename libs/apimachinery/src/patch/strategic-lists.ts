import type { OpenAPISchema } from '@tinkernetes/api';
import { deepEqual, isObject } from '../deep';
import type { JsonObject } from '../deep';
import { itemSchema } from '../schema-lookup';
import { directive } from './directives';
import { identifyBy, orderElements } from './list-order';
import {
  badPatchType,
  cannotMergeLists,
  goTypeOf,
  listsOfLists,
  mixedElements,
  noListMergeKey,
  noMergeKey,
} from './strategic-errors';
import { mergeMap } from './strategic-merge-patch';
import type { MergeContext } from './strategic-merge-patch';

export interface ListMerge {
  readonly original: readonly unknown[];
  readonly patch: readonly unknown[];
  /** Of the list. */
  readonly schema: OpenAPISchema | undefined;
  /** The patch lists values to take out (`$deleteFromPrimitiveList`). */
  readonly isDeleteList: boolean;
}

/** Merges a list whose strategy is `merge`. */
export function mergeList(merge: ListMerge, context: MergeContext): unknown[] {
  const { original, patch, isDeleteList, schema } = merge;
  const elements = checkElements(original, patch);
  if (!elements) return [];
  if (elements === 'scalars') {
    if (isDeleteList) return original.filter((value) => !patch.includes(value));
    return orderElements([...new Set([...original, ...patch])], patch, original, identifyBy(''));
  }
  const mergeKey = schema?.['x-kubernetes-patch-merge-key'] ?? '';
  if (mergeKey === '') throw noListMergeKey();
  return mergeMaps(original, patch.filter(isObject), { mergeKey, schema, context });
}

/** All elements have to be of one type, which may not be a list. */
export function checkElements(
  original: readonly unknown[],
  patch: readonly unknown[],
): 'maps' | 'scalars' | undefined {
  const elements = [...original, ...patch];
  const [first] = elements;
  if (first === undefined) return undefined;
  if (Array.isArray(first)) throw listsOfLists();
  const type = first === null ? null : goTypeOf(first);
  if (elements.some((element) => (element === null ? null : goTypeOf(element)) !== type)) {
    throw mixedElements([original, patch]);
  }
  return isObject(first) ? 'maps' : 'scalars';
}

interface MapListContext {
  mergeKey: string;
  schema: OpenAPISchema | undefined;
  context: MergeContext;
}

function mergeMaps(
  original: readonly unknown[],
  patch: readonly JsonObject[],
  { mergeKey, schema, context }: MapListContext,
): unknown[] {
  const identify = identifyBy(mergeKey);
  const plain = patch.filter((element) => !Object.hasOwn(element, directive));
  const special = applySpecialElements(original, patch, mergeKey);
  if (special.isReplaced) return orderElements(plain, plain, plain, identify);
  const items = itemSchema(schema, context.schemas);
  const merged = [...special.original];
  for (const element of plain) {
    const id = identify(element);
    const position = merged.findIndex((other) => hasKey(other, mergeKey, id));
    const found = merged[position];
    if (isObject(found)) merged[position] = mergeMap(found, element, items, context);
    else merged.push(element);
  }
  return orderElements(merged, plain, special.original, identify);
}

const hasKey = (element: unknown, mergeKey: string, id: unknown): boolean =>
  isObject(element) && Object.hasOwn(element, mergeKey) && deepEqual(element[mergeKey], id);

/** Elements with a `$patch`: deletions, or the wish to replace the whole list by the other elements. */
function applySpecialElements(
  original: readonly unknown[],
  patch: readonly JsonObject[],
  mergeKey: string,
): { original: readonly unknown[]; isReplaced: boolean } {
  let remaining = original;
  let isReplaced = false;
  for (const element of patch) {
    if (!Object.hasOwn(element, directive)) continue;
    const type = element[directive];
    if (type === 'replace') {
      isReplaced = true;
    } else if (type === 'delete') {
      if (!Object.hasOwn(element, mergeKey)) throw noMergeKey(element, mergeKey);
      const id = element[mergeKey];
      remaining = remaining.filter((other) => !hasKey(other, mergeKey, id));
    } else if (type === 'merge') {
      throw cannotMergeLists();
    } else {
      throw badPatchType(type, element);
    }
  }
  return { original: remaining, isReplaced };
}

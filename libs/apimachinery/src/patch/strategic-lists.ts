import type { OpenAPISchema } from '@tinkernetes/api';
import { deepEqual, isObject } from '../deep';
import type { JsonObject } from '../deep';
import { itemSchema } from '../schema-lookup';
import { StatusError } from '../status-error';
import { identifyBy, noMergeKey, orderElements } from './list-order';
import { badPatchType, mergeMap, withoutDirectives } from './strategic-merge-patch';
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
  if (original.length === 0 && patch.length === 0) return [];
  const elements = [...original, ...patch];
  if (elements.some(Array.isArray)) {
    throw new StatusError('Invalid', 'lists of lists are not supported', { details: {} });
  }
  if (!elements.some(isObject)) {
    if (isDeleteList) return original.filter((value) => !patch.includes(value));
    return orderElements([...new Set(elements)], patch, original, identifyBy(''));
  }
  const mergeKey = schema?.['x-kubernetes-patch-merge-key'] ?? '';
  if (mergeKey === '') throw new StatusError('BadRequest', 'cannot merge lists without merge key');
  return mergeMaps(original, patch.map(toMap), { mergeKey, schema, context });
}

const toMap = (element: unknown): JsonObject => (isObject(element) ? element : {});

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
  const plain = patch.filter((element) => !Object.hasOwn(element, '$patch'));
  const special = applySpecialElements(original, patch, mergeKey);
  if (special.isReplaced) return orderElements(plain, plain, plain, identify);
  const items = itemSchema(schema, context.schemas);
  const merged = [...special.original];
  for (const element of plain) {
    const id = identify(element);
    const position = merged.findIndex((other) => isObject(other) && deepEqual(other[mergeKey], id));
    if (position < 0) merged.push(withoutDirectives(element));
    else merged[position] = mergeMap(toMap(merged[position]), element, items, context);
  }
  return orderElements(merged, plain, special.original, identify);
}

/** Elements with a `$patch`: deletions, or the wish to replace the whole list by the other elements. */
function applySpecialElements(
  original: readonly unknown[],
  patch: readonly JsonObject[],
  mergeKey: string,
): { original: readonly unknown[]; isReplaced: boolean } {
  let remaining = original;
  let isReplaced = false;
  for (const element of patch) {
    if (!Object.hasOwn(element, '$patch')) continue;
    const type = element.$patch;
    if (type === 'replace') {
      isReplaced = true;
    } else if (type === 'delete') {
      if (!Object.hasOwn(element, mergeKey)) throw noMergeKey(element, mergeKey);
      const id = element[mergeKey];
      remaining = remaining.filter((other) => !(isObject(other) && deepEqual(other[mergeKey], id)));
    } else if (type === 'merge') {
      throw new StatusError('BadRequest', 'merging lists cannot yet be specified in the patch');
    } else {
      throw badPatchType(type, element);
    }
  }
  return { original: remaining, isReplaced };
}

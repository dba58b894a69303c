import type { OpenAPISchema } from '@tinkernetes/api';
import { deepEqual, isObject, setOwn } from '../deep';
import type { JsonObject } from '../deep';
import { memberSchema, structName } from '../schema-lookup';
import { directive, orderPrefix, withoutDirectives } from './directives';
import { identifyBy, orderElements } from './list-order';
import { noElements, noField, notAMap, wrongOrder, wrongType } from './strategic-errors';
import { checkElements, mergeList } from './strategic-lists';
import { strategyOf } from './strategic-merge-patch';
import type { MergeContext } from './strategic-merge-patch';

/** Merges the lists that have a `$setElementOrder`; returns their names. */
export function mergeOrderedLists(
  result: JsonObject,
  patch: JsonObject,
  schema: OpenAPISchema | undefined,
  context: MergeContext,
): ReadonlySet<string> {
  const handled = new Set<string>();
  for (const [directiveKey, order] of Object.entries(patch)) {
    if (!directiveKey.startsWith(orderPrefix)) continue;
    const key = directiveKey.slice(orderPrefix.length);
    if (!Array.isArray(order)) throw wrongType('list', order);
    const original = listIn(result, key);
    const patched = listIn(patch, key);
    const member = memberSchema(schema, key, context.schemas);
    if (!member) throw noField(structName(schema), key);
    const mergeKey = member['x-kubernetes-patch-merge-key'] ?? '';
    if (patched) checkOrder(patched, order, mergeKey);
    handled.add(key);
    const merged = mergeForOrder({ original, patched, member, context });
    if (!merged) continue;
    if (mergeKey !== '' && merged.length > 0) checkNamed(order);
    if (!checkElements(original ?? [], patched ?? [])) throw noElements();
    setOwn(result, key, orderElements(merged, order, original ?? [], identifyBy(mergeKey)));
  }
  return handled;
}

/** A member that is a list, or absent. */
function listIn(object: JsonObject, key: string): unknown[] | undefined {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  if (value !== undefined && !Array.isArray(value)) throw wrongType('list', value);
  return value;
}

interface OrderedMerge {
  original: unknown[] | undefined;
  patched: unknown[] | undefined;
  member: OpenAPISchema;
  context: MergeContext;
}

function mergeForOrder({ original, patched, member, context }: OrderedMerge): unknown[] | undefined {
  if (!patched) return original;
  if (!original) return withoutDirectives(patched) as unknown[];
  return strategyOf(member) === 'merge'
    ? mergeList({ original, patch: patched, schema: member, isDeleteList: false }, context)
    : patched;
}

function checkNamed(order: readonly unknown[]): void {
  const foreign = order.findIndex((element) => !isObject(element));
  if (foreign >= 0) throw notAMap(foreign);
}

/** What the patch lists must follow the order that it asks for. */
function checkOrder(patched: readonly unknown[], order: readonly unknown[], mergeKey: string): void {
  if (order.length === 0) return;
  const identify = identifyBy(mergeKey);
  let position = 0;
  for (const element of patched) {
    if (isObject(element) && Object.hasOwn(element, directive)) continue;
    const id = position < order.length ? identify(element) : undefined;
    while (position < order.length && !deepEqual(identify(order[position]), id)) position += 1;
    if (position >= order.length) throw wrongOrder(patched, order);
    position += 1;
  }
}

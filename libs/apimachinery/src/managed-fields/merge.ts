import { isObject, setOwn } from '../deep';
import type { JsonObject } from '../deep';
import type { FieldSet } from './field-set';
import { elementsOf, elementType, fieldType, typingOf } from './typing';
import type { Typed } from './typing';

/** The live value with an applied configuration laid over it. Source: structured-merge-diff typed.Merge. */
export function merge(live: unknown, config: unknown, type: Typed): unknown {
  if (live === undefined || live === null) return config;
  const typing = typingOf(type, config);
  if (typing === 'map' && isObject(live) && isObject(config)) {
    const merged: JsonObject = Object.fromEntries(Object.entries(live));
    for (const [name, value] of Object.entries(config)) {
      const current = Object.hasOwn(live, name) ? live[name] : undefined;
      setOwn(merged, name, merge(current, value, fieldType(type, name)));
    }
    return merged;
  }
  const isMergedList = typing === 'list-map' || typing === 'set';
  return isMergedList && Array.isArray(live) && Array.isArray(config)
    ? mergeElements(elementsOf(type, typing, live), elementsOf(type, typing, config), elementType(type))
    : config;
}

/** The configuration's elements in its order, the others where they were among them. */
function mergeElements(live: Map<string, unknown>, config: Map<string, unknown>, item: Typed): unknown[] {
  const left = [...live.keys()];
  const right = [...config.keys()];
  const merged = new Map<string, unknown>();
  const take = (element: string) => merged.set(element, merge(live.get(element), config.get(element), item));
  let [l, r] = [0, 0];
  while (l < left.length || r < right.length) {
    const [next, wanted] = [left[l], right[r]];
    if (next !== undefined && !config.has(next)) {
      merged.set(next, live.get(next));
      l += 1;
    } else if (next !== undefined && merged.has(next)) {
      l += 1;
    } else if (wanted !== undefined) {
      take(wanted);
      r += 1;
    } else {
      l += 1;
    }
  }
  return [...merged.values()];
}

/** The value without the members of the set and all that is in them. Source: typed.RemoveItems. */
export function removeItems(value: unknown, set: FieldSet, type: Typed): unknown {
  if (set.children.size === 0) return value;
  const typing = typingOf(type, value);
  if (typing === 'map' && isObject(value)) {
    const kept = Object.entries(value).flatMap(([name, member]) => {
      const own = set.children.get(`f:${name}`);
      if (!own) return [[name, member] as const];
      return own.isMember ? [] : [[name, removeItems(member, own, fieldType(type, name))] as const];
    });
    return Object.fromEntries(kept);
  }
  if ((typing === 'list-map' || typing === 'set') && Array.isArray(value)) {
    const item = elementType(type);
    return [...elementsOf(type, typing, value)].flatMap(([element, member]) => {
      const own = set.children.get(element);
      if (!own) return [member];
      return own.isMember ? [] : [removeItems(member, own, item)];
    });
  }
  return value;
}

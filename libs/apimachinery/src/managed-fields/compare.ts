import { deepEqual, isObject } from '../deep';
import { FieldSet } from './field-set';
import { elementType, fieldType, keyedElements, typingOf } from './typing';
import type { Typed } from './typing';

/** What changed from one value to another. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

const nothing: Comparison = { added: FieldSet.empty, modified: FieldSet.empty, removed: FieldSet.empty };
const changes: Readonly<Record<keyof Comparison, Comparison>> = {
  added: { ...nothing, added: FieldSet.member },
  modified: { ...nothing, modified: FieldSet.member },
  removed: { ...nothing, removed: FieldSet.member },
};

/** Whether a map or list holds nothing: then it is compared as one thing. */
const isHollow = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0);

/** Source: structured-merge-diff typed.Compare. */
export function compare(before: unknown, after: unknown, type: Typed): Comparison {
  if (before === after) return nothing;
  const typing = typingOf(type, after ?? before);
  if (typing === 'leaf' || (isHollow(before) && isHollow(after))) return compareLeaves(before, after);
  const inner =
    typing === 'map' ? compareMaps(before, after, type) : compareLists(before, after, { type, typing });
  if (before === undefined) return { ...inner, added: FieldSet.ofOwned(true, inner.added.children) };
  if (after === undefined) return { ...inner, removed: FieldSet.ofOwned(true, inner.removed.children) };
  return inner;
}

function compareLeaves(before: unknown, after: unknown): Comparison {
  if (before === undefined) return changes.added;
  if (after === undefined) return changes.removed;
  return deepEqual(before, after) ? nothing : changes.modified;
}

/** A struct writes its required maps and lists even when they are empty: their absence is a null, not nothing. */
function memberOf(map: unknown, name: string, type: Typed): unknown {
  if (!isObject(map)) return undefined;
  if (Object.hasOwn(map, name) && map[name] !== undefined) return map[name];
  if (!type.schema?.required?.includes(name)) return undefined;
  const { schema } = fieldType(type, name);
  const isMap = schema?.type === 'object' && schema.additionalProperties !== undefined;
  const isList = schema?.type === 'array' && schema['x-kubernetes-list-type'] !== 'set';
  return isMap || isList ? null : undefined;
}

function compareMaps(before: unknown, after: unknown, type: Typed): Comparison {
  const gathered = new Gathered();
  const compareMember = (name: string) => {
    const [old, next] = [memberOf(before, name, type), memberOf(after, name, type)];
    if (old !== next) gathered.add(`f:${name}`, compare(old, next, fieldType(type, name)));
  };
  if (isObject(before)) for (const name of Object.keys(before)) compareMember(name);
  if (isObject(after)) {
    for (const name of Object.keys(after)) {
      if (!isObject(before) || !Object.hasOwn(before, name)) compareMember(name);
    }
  }
  return gathered.comparison();
}

function compareLists(
  before: unknown,
  after: unknown,
  { type, typing }: { type: Typed; typing: 'list-map' | 'set' },
): Comparison {
  const [old, next] = [keyedElements(type, typing, before), keyedElements(type, typing, after)];
  const item = elementType(type);
  const gathered = new Gathered();
  const compareElement = (element: string) => {
    const [a, b] = [old.elements.get(element), next.elements.get(element)];
    // Of elements that are there more than once nobody can tell whose fields they are.
    const isRepeated = old.repeated.has(element) || next.repeated.has(element);
    gathered.add(element, isRepeated ? compareLeaves(a, b) : compare(a, b, item));
  };
  for (const element of old.elements.keys()) compareElement(element);
  for (const element of next.elements.keys()) if (!old.elements.has(element)) compareElement(element);
  return gathered.comparison();
}

/** Puts the comparisons of a map's or list's members together. */
class Gathered {
  private added: Map<string, FieldSet> | undefined;
  private modified: Map<string, FieldSet> | undefined;
  private removed: Map<string, FieldSet> | undefined;

  add(element: string, { added, modified, removed }: Comparison): void {
    if (!added.isEmpty) (this.added ??= new Map()).set(element, added);
    if (!modified.isEmpty) (this.modified ??= new Map()).set(element, modified);
    if (!removed.isEmpty) (this.removed ??= new Map()).set(element, removed);
  }

  comparison(): Comparison {
    const { added, modified, removed } = this;
    if (!added && !modified && !removed) return nothing;
    return {
      added: added ? FieldSet.ofOwned(false, added) : FieldSet.empty,
      modified: modified ? FieldSet.ofOwned(false, modified) : FieldSet.empty,
      removed: removed ? FieldSet.ofOwned(false, removed) : FieldSet.empty,
    };
  }
}

import { deepEqual, isObject } from '../deep';
import { FieldSet } from './field-set';
import { elementsOf, elementType, fieldType, typingOf } from './typing';
import type { Typed } from './typing';

/** What changed from one value to another. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

const nothing: Comparison = { added: FieldSet.empty, modified: FieldSet.empty, removed: FieldSet.empty };
const change = (kind: keyof Comparison): Comparison => ({ ...nothing, [kind]: FieldSet.member });

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
  if (before === undefined) return { ...inner, added: FieldSet.of(true, inner.added.children) };
  if (after === undefined) return { ...inner, removed: FieldSet.of(true, inner.removed.children) };
  return inner;
}

function compareLeaves(before: unknown, after: unknown): Comparison {
  if (before === undefined) return change('added');
  if (after === undefined) return change('removed');
  return deepEqual(before, after) ? nothing : change('modified');
}

/** A struct writes its required maps and lists even when they are empty: their absence is a null, not nothing. */
function memberOf(map: unknown, name: string, type: Typed): unknown {
  if (!isObject(map)) return undefined;
  if (Object.hasOwn(map, name) && map[name] !== undefined) return map[name];
  const { schema } = fieldType(type, name);
  const isMap = schema?.type === 'object' && schema.additionalProperties !== undefined;
  const isList = schema?.type === 'array' && schema['x-kubernetes-list-type'] !== 'set';
  return (isMap || isList) && type.schema?.required?.includes(name) ? null : undefined;
}

function compareMaps(before: unknown, after: unknown, type: Typed): Comparison {
  const names = new Set([
    ...(isObject(before) ? Object.keys(before) : []),
    ...(isObject(after) ? Object.keys(after) : []),
  ]);
  return combine(
    [...names].map((name) => [
      `f:${name}`,
      compare(memberOf(before, name, type), memberOf(after, name, type), fieldType(type, name)),
    ]),
  );
}

function compareLists(
  before: unknown,
  after: unknown,
  { type, typing }: { type: Typed; typing: 'list-map' | 'set' },
): Comparison {
  const [old, next] = [elementsOf(type, typing, before), elementsOf(type, typing, after)];
  const item = elementType(type);
  return combine(
    [...new Set([...old.keys(), ...next.keys()])].map((element) => [
      element,
      compare(old.get(element), next.get(element), item),
    ]),
  );
}

function combine(members: ReadonlyArray<readonly [string, Comparison]>): Comparison {
  const gather = (kind: keyof Comparison) =>
    FieldSet.of(
      false,
      members.map(([element, comparison]) => [element, comparison[kind]] as const),
    );
  return { added: gather('added'), modified: gather('modified'), removed: gather('removed') };
}

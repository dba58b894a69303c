import { isObject } from '../deep';
import { FieldSet } from './field-set';
import { elementsOf, elementType, fieldType, isDeclared, typingOf } from './typing';
import type { Typed } from './typing';

/** What somebody who applies this value owns. Source: structured-merge-diff typed.ToFieldSet. */
export function toFieldSet(value: unknown, type: Typed): FieldSet {
  const typing = typingOf(type, value);
  if (typing === 'leaf') return FieldSet.member;
  if (typing === 'map') {
    if (!isObject(value)) return FieldSet.empty;
    return FieldSet.of(
      false,
      Object.entries(value).map(([name, member]) => {
        const deeper = toFieldSet(member, fieldType(type, name));
        const isEmptyMap = member === null || (isObject(member) && Object.keys(member).length === 0);
        const isOwned = isEmptyMap || !isDeclared(type, name);
        return [`f:${name}`, isOwned ? FieldSet.of(true, deeper.children) : deeper] as const;
      }),
    );
  }
  const item = elementType(type);
  return FieldSet.of(
    false,
    [...elementsOf(type, typing, value)].map(
      ([element, member]) => [element, FieldSet.of(true, toFieldSet(member, item).children)] as const,
    ),
  );
}

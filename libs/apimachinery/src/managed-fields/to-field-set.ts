import { isObject } from '../deep';
import { FieldSet } from './field-set';
import { elementType, fieldType, isDeclared, keyedElements, typingOf } from './typing';
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
  const { elements, repeated } = keyedElements(type, typing, value);
  return FieldSet.of(
    false,
    [...elements].map(([element, member]) => {
      // Of elements that are there more than once nobody can tell whose fields they are.
      const fields = repeated.has(element) ? [] : toFieldSet(member, item).children;
      return [element, FieldSet.of(true, fields)] as const;
    }),
  );
}

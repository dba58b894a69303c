import { isObject } from '@tinkernetes/apimachinery';

/**
 * How many objects and arrays in each other are kept. Every level takes stack in each step that follows, and V8 ends the
 * whole process when a regular expression has to be compiled where little stack is left.
 */
export const maxDepth = 500;

/** How many there may be: what lies deeper than `maxDepth` is read, and cut off. As in Go's encoding/json. */
export const goDepth = 10_000;

const cutMark = '\u0000cut';

export const cuts = { '{': () => ({ [cutMark]: true }), '[': () => [cutMark] } as const;

/** Whether part of a value was cut off because it lay too deep. */
export function hasCuts(value: unknown): boolean {
  if (Array.isArray(value)) return value.some((item) => item === cutMark || hasCuts(item));
  return isObject(value) && (Object.hasOwn(value, cutMark) || Object.values(value).some(hasCuts));
}

import { isObject } from '@tinkernetes/apimachinery';
/**
 * Whether writing `next` over `current` would change anything: fields that the server leaves out when they are zero,
 * empty or absent count as equal.
 */
export function sameStatus(current: object | undefined, next: object): boolean {
  return isSame(current ?? {}, next);
}

function isSame(a: unknown, b: unknown): boolean {
  if (isEmpty(a) && isEmpty(b)) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => isSame(item, b[i]));
  if (isObject(a) && isObject(b)) {
    const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
    return [...keys].every((key) => isSame(a[key], b[key]));
  }
  return a === b;
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === 0 ||
  value === '' ||
  value === false ||
  (typeof value === 'object' && Object.keys(value).length === 0);

import { isObject, setOwn } from '../deep';
import type { JsonObject } from '../deep';

/** JSON merge patch, RFC 7386. Neither argument is changed. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: JsonObject = isObject(target) ? Object.fromEntries(Object.entries(target)) : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) {
      delete result[key];
    } else {
      setOwn(result, key, applyMergePatch(Object.hasOwn(result, key) ? result[key] : undefined, value));
    }
  }
  return result;
}

import { isObject } from '../deep';

export const orderPrefix = '$setElementOrder/';
export const deletePrefix = '$deleteFromPrimitiveList/';
export const retainKeys = '$retainKeys';
export const directive = '$patch';

/** A patch value taken as it is: elements and members with a `$patch` vanish. */
export function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isObject(value)) return value;
  if (Object.hasOwn(value, directive)) return undefined;
  const kept = Object.entries(value)
    .map(([key, member]) => [key, withoutDirectives(member)] as const)
    .filter(([, member]) => member !== undefined);
  return Object.fromEntries(kept);
}

/** Members that a patch wants gone and that are not there. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(kept.map(([key, member]) => [key, withoutNulls(member)]));
}

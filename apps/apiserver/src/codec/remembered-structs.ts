import type { Decode, DecodeState } from './decode-state';

/** Structs that hold most of an object, of which a write changes one and leaves the others as they are. */
export const isLargeStruct = (struct: string): boolean => /(?:Spec|Status)$/.test(struct);

/**
 * A struct's decoder that knows its own results again: decoded once more they come out as they are, for objects are never
 * changed in place.
 */
export function remembering(decode: (value: unknown, state: DecodeState) => object): Decode {
  const decoded = new WeakSet<object>();
  return (value, state) => {
    if (typeof value === 'object' && value !== null && decoded.has(value)) return value;
    const result = decode(value, state);
    // What a request may keep is not yet as it is stored.
    if (!state.keepsEmpty) decoded.add(result);
    return result;
  };
}

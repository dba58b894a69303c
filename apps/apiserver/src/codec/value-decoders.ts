import { jsonTypeOf, mismatch, TypeMismatchError, type Decode } from './decode-state';
import { base64Problem } from './base64-problem';

export const typed =
  (type: 'string' | 'number' | 'boolean', goType: string): Decode =>
  (value, state) => {
    if (typeof value !== type) throw mismatch(value, goType, state);
    return value;
  };

export const anyObject =
  (goType: string): Decode =>
  (value, state) => {
    if (jsonTypeOf(value) !== 'object') throw mismatch(value, goType, state);
    return value;
  };

export function integerDecoder(goType: string): Decode {
  const [low, high] = goType === 'int32' ? [-(2 ** 31), 2 ** 31 - 1] : [-(2 ** 63), 2 ** 63];
  return (value, state) => {
    if (typeof value !== 'number' || !Number.isInteger(value) || value < low || value > high) {
      throw mismatch(value, goType, state);
    }
    return value;
  };
}

export const bytesDecoder: Decode = (value, state) => {
  if (typeof value !== 'string') throw mismatch(value, '[]uint8', state);
  const problem = base64Problem(value);
  if (problem) throw new TypeMismatchError(problem);
  return value;
};

export function listDecoder(item: Decode, zero: () => unknown, goType: string): Decode {
  return (value, state) => {
    if (!Array.isArray(value)) throw mismatch(value, goType, state);
    let isAsGiven = true;
    const out: unknown[] = new Array(value.length);
    for (let i = 0; i < value.length; i++) {
      const element: unknown = value[i];
      out[i] = element === null ? zero() : item(element, state);
      if (out[i] !== element) isAsGiven = false;
    }
    return isAsGiven ? value : out;
  };
}

export function mapDecoder(item: Decode, zero: () => unknown, goType: string): Decode {
  return (value, state) => {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) {
      throw mismatch(value, goType, state);
    }
    const given = value as Record<string, unknown>;
    const names = Object.keys(given);
    let isAsGiven = true;
    for (let i = 1; i < names.length; i++) if ((names[i] ?? '') < (names[i - 1] ?? '')) isAsGiven = false;
    if (!isAsGiven) names.sort();
    const out: Record<string, unknown> = {};
    for (const key of names) {
      const element = given[key];
      const decoded = element === null ? zero() : item(element, state);
      if (decoded !== element) isAsGiven = false;
      if (key === '__proto__') Object.defineProperty(out, key, { value: decoded, enumerable: true });
      else out[key] = decoded;
    }
    return isAsGiven ? given : out;
  };
}

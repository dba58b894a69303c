import { Optional } from '@marcbachmann/cel-js';
import { Duration, UnsignedInt } from '@marcbachmann/cel-js/evaluator';

/** Deep equality of CEL values; numbers of different types are equal if they are the same number. */
export function equal(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => equal(item, b[i]));
  const [map, other] = [asMap(a), asMap(b)];
  if (map && other) {
    return (
      map.size === other.size &&
      [...map].every(([key, item]) => other.has(key) && equal(item, other.get(key)))
    );
  }
  if (a instanceof Optional && b instanceof Optional) {
    return a.hasValue() && b.hasValue() ? equal(a.value(), b.value()) : a.hasValue() === b.hasValue();
  }
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0;
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime();
  if (a instanceof Duration && b instanceof Duration) return a.seconds === b.seconds && a.nanos === b.nanos;
  return sameNumber(numberOf(a), numberOf(b));
}

/** A map's value: literals whose keys are texts are plain objects. */
export function asMap(value: unknown): ReadonlyMap<unknown, unknown> | undefined {
  if (value instanceof Map) return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype ? new Map(Object.entries(value)) : undefined;
}

const numberOf = (value: unknown): unknown =>
  value instanceof UnsignedInt ? BigInt(value.valueOf()) : value;

function sameNumber(a: unknown, b: unknown): boolean {
  if (typeof a === 'bigint' && typeof b === 'number') return Number(a) === b;
  if (typeof a === 'number' && typeof b === 'bigint') return a === Number(b);
  return a === b;
}

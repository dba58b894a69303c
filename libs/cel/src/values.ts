const converted = new WeakMap<object, unknown>();

/**
 * A JSON value as CEL computes with it: whole numbers are ints. API objects are immutable, so each is converted once.
 * Source: k8s.io/apiserver/pkg/cel/common (UnstructuredToVal without a schema).
 */
export function toCelValue(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  const known = converted.get(value);
  if (known !== undefined) return known;
  const result = Array.isArray(value)
    ? value.map(toCelValue)
    : new Map(Object.entries(value).map(([key, item]) => [key, toCelValue(item)]));
  converted.set(value, result);
  return result;
}

/** A result as JSON has it. */
export function fromCelValue(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Map) {
    return Object.fromEntries([...value].map(([key, item]) => [String(key), fromCelValue(item)]));
  }
  if (Array.isArray(value)) return value.map(fromCelValue);
  if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fromCelValue(item)]));
  }
  return value;
}

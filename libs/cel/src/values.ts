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

/** A base64 text as bytes. */
export const bytesValue = (text: string): unknown => new Uint8Array(Buffer.from(text, 'base64'));

/** A date or time; the text itself where it is none. */
export function timestampValue(text: string): unknown {
  const time = Date.parse(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
  return Number.isNaN(time) ? text : new Date(time);
}

const unitSeconds: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  μs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
  w: 604_800,
};

/** A duration as Go writes it; the text itself where it is none. */
export function durationValue(text: string): unknown {
  const parts = [...text.matchAll(/(\d+\.?\d*|\.\d+)\s*(ns|us|µs|μs|ms|s|m|h|d|w)/g)];
  if (parts.length === 0) return text === '0' ? seconds(0) : text;
  const total = parts.reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (unitSeconds[unit] ?? 0),
    0,
  );
  return seconds(text.startsWith('-') ? -total : total);
}

/** The library makes durations from texts only. */
const seconds = (total: number): unknown =>
  library().evaluate('duration(text)', { text: `${Math.round(total * 1e9)}ns` }) as unknown;

/** An optional that holds a value. */
export const someValue = (value: unknown): unknown => library().Optional.of(value);
/** An optional that holds none. */
export const noValue = (): unknown => library().Optional.none();

/** Loaded when it is needed: it takes tens of milliseconds. */
function library(): typeof import('@marcbachmann/cel-js') {
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  return require('@marcbachmann/cel-js') as typeof import('@marcbachmann/cel-js');
}

import type { Environment } from '@marcbachmann/cel-js';
import { goEscapes } from '@tinkernetes/apimachinery';

/** CEL's strings extension beyond what the library has. */
export function registerStrings(env: Environment): void {
  env.registerFunction('string.charAt(int): string', (text: string, at: bigint) => {
    const points = [...text];
    if (at < 0n || at > points.length) throw new Error(`index out of range: ${at}`);
    return points[Number(at)] ?? '';
  });
  env.registerFunction('string.replace(string, string): string', (text: string, from: string, to: string) =>
    text.replaceAll(from, () => to),
  );
  env.registerFunction(
    'string.replace(string, string, int): string',
    (text: string, from: string, to: string, count: bigint) =>
      replaceFirst(text, { from, to, count: Number(count) }),
  );
  env.registerFunction('string.reverse(): string', (text: string) => [...text].reverse().join(''));
  env.registerFunction('string.format(list<dyn>): string', (text: string, values: readonly unknown[]) =>
    format(text, values),
  );
}

/** `strings.quote`: a text as it would be written in an expression. */
export function registerQuote(env: Environment): void {
  class Strings {}
  env.registerType('kubernetes.Strings', { ctor: Strings, fields: {} });
  env.registerConstant('strings', 'kubernetes.Strings', new Strings());
  env.registerFunction('kubernetes.Strings.quote(string): string', (_: Strings, text: string) => {
    const quoted = text.replace(/["\\\x07\b\f\n\r\t\v]/g, (char) => goEscapes[char] ?? char);
    return `"${quoted}"`;
  });
}

/** `jsonpatch.escapeKey`, for keys in JSON patch paths. */
export function registerJsonPatch(env: Environment): void {
  class JsonPatch {}
  env.registerType('kubernetes.JSONPatch', { ctor: JsonPatch, fields: {} });
  env.registerConstant('jsonpatch', 'kubernetes.JSONPatch', new JsonPatch());
  env.registerFunction('kubernetes.JSONPatch.escapeKey(string): string', (_: JsonPatch, key: string) =>
    key.replaceAll('~', '~0').replaceAll('/', '~1'),
  );
}

function replaceFirst(
  text: string,
  { from, to, count }: { from: string; to: string; count: number },
): string {
  if (count < 0) return text.replaceAll(from, () => to);
  let out = text;
  let start = 0;
  for (let i = 0; i < count; i++) {
    const at = out.indexOf(from, start);
    if (at < 0) break;
    out = out.slice(0, at) + to + out.slice(at + from.length);
    start = at + to.length;
  }
  return out;
}

/** `%s %d %f %e %x %X %o %b`. Source: cel-go ext.Strings. */
function format(text: string, values: readonly unknown[]): string {
  let next = 0;
  return text.replace(
    /%(?:%|(?:\.(\d+))?([sdfexXob]))/g,
    (match, precision: string | undefined, verb: string | undefined) => {
      if (match === '%%') return '%';
      if (next >= values.length) throw new Error('index out of range');
      const value = values[next++];
      switch (verb) {
        case 'f':
          return Number(value).toFixed(precision === undefined ? 6 : Number(precision));
        case 'e':
          return Number(value).toExponential(precision === undefined ? 6 : Number(precision));
        case 'x':
          return BigInt(value as bigint).toString(16);
        case 'X':
          return BigInt(value as bigint)
            .toString(16)
            .toUpperCase();
        case 'o':
          return BigInt(value as bigint).toString(8);
        case 'b':
          return typeof value === 'boolean' ? (value ? '1' : '0') : BigInt(value as bigint).toString(2);
        default:
          return printed(value);
      }
    },
  );
}

/** A value as CEL's `%s` prints it. */
function printed(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(printed).join(', ')}]`;
  if (value instanceof Map) {
    return `{${[...value].map(([key, item]) => `${printed(key)}: ${printed(item)}`).join(', ')}}`;
  }
  return String(value);
}

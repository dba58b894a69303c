import { isObject } from '../deep';

/** A JSON value as Go's `%v` prints it: `map[a:1 b:[x y]]`, `<nil>`. */
export function goFormat(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goFormat).join(' ')}]`;
  if (isObject(value)) {
    const members = Object.keys(value)
      .sort()
      .map((key) => `${key}:${goFormat(value[key])}`);
    return `map[${members.join(' ')}]`;
  }
  return String(value);
}

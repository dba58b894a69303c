/** What a variable holds: text, an indexed array (with holes), an associative one. */
export type Value = string | string[] | Map<string, string>;

export interface Variable {
  value: Value;
  exported: boolean;
  readonly: boolean;
  /** `declare -i`: what is assigned is evaluated first. */
  integer?: boolean;
}

/** As plain text: an array stands for its first element. */
export function textOf(value: Value | undefined): string | undefined {
  if (Array.isArray(value)) return value[0];
  if (value instanceof Map) return value.get('0');
  return value;
}

/** The elements that exist, in order. */
export function itemsOf(value: Value | undefined): string[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value.filter(() => true);
  return value instanceof Map ? [...value.values()] : [value];
}

/** Their keys: indices, or names. */
export function keysOf(value: Value | undefined): string[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return Object.keys(value);
  return value instanceof Map ? [...value.keys()] : ['0'];
}

export function elementOf(value: Value | undefined, key: string | number): string | undefined {
  if (value instanceof Map) return value.get(String(key));
  const index = Number(key);
  if (Array.isArray(value)) return value[index < 0 ? value.length + index : index];
  return index === 0 ? value : undefined;
}

/** The same value with one element more, changed or (undefined) less. */
export function withElement(value: Value | undefined, key: string | number, text: string | undefined): Value {
  if (value instanceof Map) {
    const copy = new Map(value);
    if (text === undefined) copy.delete(String(key));
    else copy.set(String(key), text);
    return copy;
  }
  const list = Array.isArray(value) ? value.slice() : value === undefined ? [] : [value];
  const index = Number(key) < 0 ? list.length + Number(key) : Number(key);
  if (text === undefined) delete list[index];
  else list[index] = text;
  return list;
}

export function sizeOf(value: Value): number {
  return typeof value === 'string'
    ? value.length
    : itemsOf(value).reduce((sum, item) => sum + item.length, 0);
}

/** A type as cel-go's checker knows it. */
export interface CelType {
  readonly kind:
    | 'dyn'
    | 'error'
    | 'parameter'
    | 'null'
    | 'scalar'
    | 'time'
    | 'type'
    | 'list'
    | 'map'
    | 'opaque'
    | 'struct';
  readonly name: string;
  readonly parameters: readonly CelType[];
  /** Of a struct. */
  readonly fields?: Readonly<Record<string, CelType>>;
  /** Of a struct's fields beyond those; undefined: there are none. */
  readonly others?: CelType;
}

const simple = (kind: CelType['kind'], name: string): CelType => ({ kind, name, parameters: [] });

export const dyn = simple('dyn', 'dyn');
export const errorType = simple('error', '!error!');
export const nullType = simple('null', 'null');
export const bool = simple('scalar', 'bool');
export const int = simple('scalar', 'int');
export const uint = simple('scalar', 'uint');
export const double = simple('scalar', 'double');
export const string = simple('scalar', 'string');
export const bytes = simple('scalar', 'bytes');
export const timestamp = simple('time', 'timestamp');
export const duration = simple('time', 'duration');

export const listOf = (element: CelType): CelType => ({ kind: 'list', name: 'list', parameters: [element] });
export const mapOf = (key: CelType, value: CelType): CelType => ({
  kind: 'map',
  name: 'map',
  parameters: [key, value],
});
export const optionalOf = (value: CelType): CelType => ({
  kind: 'opaque',
  name: 'optional_type',
  parameters: [value],
});
export const typeOf = (type: CelType): CelType => ({ kind: 'type', name: 'type', parameters: [type] });
export const parameter = (name: string): CelType => simple('parameter', name);
export const structOf = (
  name: string,
  fields: Readonly<Record<string, CelType>>,
  others?: CelType,
): CelType => ({
  kind: 'struct',
  name,
  parameters: [],
  fields,
  ...(others && { others }),
});

export const parameterOf = ({ parameters }: CelType, i: number): CelType => parameters[i] ?? dyn;

export const isOptional = ({ kind, name }: CelType): boolean => kind === 'opaque' && name === 'optional_type';

/** `list(int)`, `map(string, dyn)` */
export function formatType(type: CelType): string {
  return type.parameters.length === 0
    ? type.name
    : `${type.name}(${type.parameters.map(formatType).join(', ')})`;
}

const named: Readonly<Record<string, CelType>> = {
  dyn,
  null: nullType,
  bool,
  int,
  uint,
  double,
  string,
  bytes,
  timestamp,
  duration,
};

/** Reads a type as it is written in declarations: `map(string, list(A))`. Capitals alone are parameters. */
export function parseType(text: string): CelType {
  const [, name = '', inner] = /^([\w.]+)(?:\((.*)\))?$/.exec(text.trim()) ?? [];
  const known = Object.hasOwn(named, name) ? named[name] : undefined;
  if (known) return known;
  if (/^[A-Z]$/.test(name)) return parameter(name);
  const parameters = inner === undefined ? [] : splitList(inner).map(parseType);
  const [first = dyn, second = dyn] = parameters;
  if (name === 'list') return listOf(first);
  if (name === 'map') return mapOf(first, second);
  if (name === 'type') return typeOf(first);
  if (name === 'optional_type') return optionalOf(first);
  return { kind: 'opaque', name, parameters };
}

/** The parts of a list, whose commas are those outside of brackets. */
export function splitList(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = '';
  for (const char of text) {
    if (char === '(') depth++;
    if (char === ')') depth--;
    if (char === ',' && depth === 0) {
      parts.push(part);
      part = '';
    } else part += char;
  }
  return part.trim() === '' ? parts : [...parts, part];
}

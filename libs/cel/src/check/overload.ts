import { parseType, splitList, type CelType } from './cel-type';

/** One way to call a function. */
export interface Overload {
  readonly id: string;
  readonly isMember: boolean;
  readonly args: readonly CelType[];
  readonly result: CelType;
  /** Names of the type parameters in it. */
  readonly parameters: readonly string[];
}

/** `id: (args) -> result`, or with a target, `id: target.(args) -> result`. */
const line = /^([\w@.]+): (?:(.+?)\.)?\((.*)\) -> (.+)$/;

/** Reads a line like `list_first: list(A).() -> optional_type(A)`. */
export function parseOverload(text: string): Overload {
  const [, id = '', target, args = '', result = ''] = line.exec(text) ?? [];
  if (id === '') throw new Error(`no declaration: ${text}`);
  const types = [...(target === undefined ? [] : [target]), ...splitList(args)];
  const parameters = [...new Set(text.match(/\b[A-Z]\b/g) ?? [])];
  return {
    id,
    isMember: target !== undefined,
    args: types.map(parseType),
    result: parseType(result),
    parameters,
  };
}

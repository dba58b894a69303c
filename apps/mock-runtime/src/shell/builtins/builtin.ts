import type { Interpreter } from '../interpreter';

/** A command that runs inside the shell itself. */
export type Builtin = (shell: Interpreter, argv: readonly string[]) => Promise<number> | number;

/** A whole number among arguments, else the fallback. */
export const numberOr = (text: string | undefined, fallback: number): number =>
  text === undefined || !/^-?\d+$/.test(text) ? fallback : Number(text);

export function splitAssignment(text: string): { name: string; value: string | undefined } {
  const at = text.indexOf('=');
  return at < 0 ? { name: text, value: undefined } : { name: text.slice(0, at), value: text.slice(at + 1) };
}

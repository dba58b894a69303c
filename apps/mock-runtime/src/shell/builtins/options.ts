import type { Interpreter } from '../interpreter';
import { optionNames, type ShellOption } from '../state';
import { textOf } from '../variables';
import type { Builtin } from './builtin';

const isOption = (name: string): name is ShellOption => name in optionNames;

const letters = new Map(
  Object.entries(optionNames).flatMap(([name, letter]): [string, ShellOption][] =>
    letter !== '' && isOption(name) ? [[letter, name]] : [],
  ),
);

/** Options as `sh -e script` and `set -e` take them; gives the index of the first other argument. */
export function applyOptions({ state }: Interpreter, args: readonly string[]): number {
  const set = (name: ShellOption | undefined, on: boolean) => {
    if (name && on) state.options.add(name);
    else if (name) state.options.delete(name);
  };
  let index = 0;
  for (; index < args.length; index++) {
    const arg = args[index] ?? '';
    if (arg === '--') return index + 1;
    if (!/^[-+][a-zA-Z]+$/.test(arg)) break;
    const on = arg.startsWith('-');
    for (const letter of arg.slice(1)) {
      if (letter !== 'o') {
        set(letters.get(letter), on);
        continue;
      }
      const name = args[++index] ?? '';
      if (isOption(name)) set(name, on);
    }
  }
  return index;
}

export const set: Builtin = async (shell, argv) => {
  const { state, process } = shell;
  const args = argv.slice(1);
  if (args.length === 0) {
    for (const [name, { value }] of [...state.variables].sort(([a], [b]) => (a < b ? -1 : 1)))
      await process.print(`${name}='${textOf(value) ?? ''}'\n`);
    return 0;
  }
  if (args.length === 1 && args[0] === '-o') {
    for (const name of Object.keys(optionNames))
      await process.print(`${name.padEnd(15)}\t${state.options.has(name as ShellOption) ? 'on' : 'off'}\n`);
    return 0;
  }
  const rest = applyOptions(shell, args);
  if (rest < args.length || args[rest - 1] === '--') state.positional = args.slice(rest);
  return 0;
};

/** `shopt -s nullglob`, `shopt -u …`, `shopt -q …`. */
export const shopt: Builtin = ({ state }, argv) => {
  const names = argv.slice(1).filter((arg) => !arg.startsWith('-'));
  const on = argv.includes('-s');
  if (!on && !argv.includes('-u'))
    return names.every((name) => isOption(name) && state.options.has(name)) ? 0 : 1;
  for (const name of names) {
    if (!isOption(name)) continue;
    if (on) state.options.add(name);
    else state.options.delete(name);
  }
  return 0;
};

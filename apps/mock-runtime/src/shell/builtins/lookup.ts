import { ExecError, lookPath, spawn } from '../../kernel/spawn';
import type { Interpreter } from '../interpreter';
import { execMessage } from '../messages';
import { splitAssignment, type Builtin } from './builtin';

const keywords = new Set(
  'if then else elif fi for while until do done case esac in { } ! [[ ]] function time'.split(' '),
);

type Kind = 'alias' | 'keyword' | 'function' | 'builtin' | 'file';

function kindOf(
  { state, process }: Interpreter,
  name: string,
  isBuiltin: boolean,
): { kind: Kind; path?: string } | undefined {
  if (state.aliases.has(name)) return { kind: 'alias' };
  if (keywords.has(name)) return { kind: 'keyword' };
  if (state.functions.has(name)) return { kind: 'function' };
  if (isBuiltin) return { kind: 'builtin' };
  try {
    const path = lookPath(name, { fs: process.fs, cwd: process.cwd, path: state.get('PATH') });
    return { kind: 'file', path };
  } catch (error) {
    if (!(error instanceof ExecError)) throw error;
    return undefined;
  }
}

/** `type`, `type -t`, `command -v`, `command -V`. */
export function describe(isBuiltin: (name: string) => boolean): Builtin {
  return async (shell, argv) => {
    const { state, process } = shell;
    const isBash = state.dialect === 'bash';
    const plain = argv.includes('-v');
    let status = 0;
    for (const name of argv.slice(1)) {
      if (name.startsWith('-')) continue;
      const found = kindOf(shell, name, isBuiltin(name));
      if (!found) {
        status = isBash ? 1 : 127;
        const told = !plain && !argv.includes('-t');
        if (told && isBash) await shell.complainAs('type', `${name}: not found`);
        else if (told) await process.print(`${name}: not found\n`);
      } else if (argv.includes('-t')) await process.print(`${found.kind}\n`);
      else if (plain) await process.print(`${found.path ?? name}\n`);
      else await process.print(`${name} is ${sentences(found)}\n`);
    }
    return status;
  };
}

function sentences({ kind, path = '' }: { kind: Kind; path?: string }): string {
  switch (kind) {
    case 'alias':
      return 'an alias';
    case 'keyword':
      return 'a shell keyword';
    case 'function':
      return 'a function';
    case 'builtin':
      return 'a shell builtin';
    case 'file':
      return path;
  }
}

/** `command name args`: no function of that name. */
export function runCommand(builtins: Readonly<Record<string, Builtin>>, describing: Builtin): Builtin {
  return async (shell, argv) => {
    if (argv[1] === '-v' || argv[1] === '-V') return describing(shell, argv);
    const rest = argv.slice(argv[1] === '-p' || argv[1] === '--' ? 2 : 1);
    const own = builtins[rest[0] ?? ''];
    if (own) return own(shell, rest);
    if (rest.length === 0) return 0;
    try {
      const child = await spawn.start(shell.process, rest, { env: shell.state.environment() });
      return await child.exited;
    } catch (error) {
      if (!(error instanceof ExecError)) throw error;
      await shell.complain(execMessage(shell.state, rest[0] ?? '', error));
      return error.exitCode;
    }
  };
}

export const alias: Builtin = async ({ state, process }, argv) => {
  let status = 0;
  const shown = argv.length > 1 ? argv.slice(1) : [...state.aliases.keys()];
  for (const text of shown) {
    const { name, value } = splitAssignment(text);
    if (value !== undefined) state.aliases.set(name, value);
    else if (state.aliases.has(name))
      await process.print(
        `${state.dialect === 'bash' ? 'alias ' : ''}${name}='${state.aliases.get(name)}'\n`,
      );
    else status = 1;
  }
  return status;
};

export const unalias: Builtin = ({ state }, argv) => {
  if (argv.includes('-a')) state.aliases.clear();
  return argv.slice(1).every((name) => name === '-a' || state.aliases.delete(name)) ? 0 : 1;
};

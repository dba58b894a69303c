import { evaluate } from '../arithmetic';
import type { Interpreter } from '../interpreter';
import { textOf, type Variable } from '../variables';
import { numberOr, splitAssignment, type Builtin } from './builtin';

export const exportVariables: Builtin = async (shell, argv) => {
  const { state, process } = shell;
  const names = argv.slice(1).filter((arg) => arg !== '-p' && arg !== '-n' && arg !== '-f');
  if (argv.includes('-f')) return 0;
  if (names.length === 0) {
    const prefix = state.dialect === 'bash' ? 'declare -x ' : 'export ';
    const quote = state.dialect === 'bash' ? '"' : "'";
    for (const [name, { exported, value }] of [...state.variables].sort(([a], [b]) => (a < b ? -1 : 1)))
      if (exported) await process.print(`${prefix}${name}=${quote}${textOf(value) ?? ''}${quote}\n`);
    return 0;
  }
  for (const text of names) {
    const { name, value } = splitAssignment(text);
    if (!/^[A-Za-z_]\w*$/.test(name)) return badName(shell, text, name);
    if (value !== undefined) state.assign(name, value);
    state.declare(name, { exported: !argv.includes('-n') });
  }
  return 0;
};

async function badName(shell: Interpreter, text: string, name: string): Promise<number> {
  if (shell.state.dialect === 'bash') {
    await shell.complainAs('export', `\`${text}': not a valid identifier`);
    return 1;
  }
  await shell.complainAs('export', `${name}: bad variable name`);
  return shell.process.exit(2);
}

/** `local x=1`, `declare -A map`, `declare -i n=2+3`, `readonly -a list`. */
export const declare: Builtin = async (shell, argv) => {
  const { state } = shell;
  const flags = argv.filter((arg) => /^-[a-zA-Z]+$/.test(arg)).join('');
  const attributes: Partial<Variable> = {
    ...(flags.includes('x') ? { exported: true } : {}),
    ...(flags.includes('i') ? { integer: true } : {}),
  };
  const saved = flags.includes('g') ? undefined : state.locals.at(-1);
  for (const text of argv.slice(1)) {
    if (/^[-+]/.test(text)) continue;
    const { name, value } = splitAssignment(text);
    if (saved && !saved.has(name)) saved.set(name, state.variables.get(name));
    if (saved && value === undefined) state.variables.delete(name);
    if (flags.includes('A') && !(state.variables.get(name)?.value instanceof Map))
      state.assign(name, new Map());
    if (flags.includes('a') && !state.variables.has(name)) state.assign(name, []);
    if (Object.keys(attributes).length > 0) state.declare(name, attributes);
    if (value !== undefined) await assignDeclared(shell, name, value);
    if (flags.includes('r')) state.declare(name, { readonly: true });
  }
  return 0;
};

async function assignDeclared({ state, expansion }: Interpreter, name: string, value: string): Promise<void> {
  const list = /^\(([\s\S]*)\)$/.exec(value)?.[1];
  if (list !== undefined) {
    const known = state.variables.get(name)?.value;
    const entries = [...list.matchAll(/\[([^\]]+)\]=(?:"([^"]*)"|'([^']*)'|(\S*))/g)];
    if (known instanceof Map)
      return state.assign(
        name,
        new Map(entries.map(([, key = '', a, b, c]): [string, string] => [key, a ?? b ?? c ?? ''])),
      );
    return state.assign(name, list.split(/\s+/).filter(Boolean));
  }
  if (!state.variables.get(name)?.integer) return state.assign(name, value);
  const scope = expansion.scope(value);
  state.assign(name, String(await evaluate(await scope.parse(value), scope)));
}

export const readonly: Builtin = (shell, argv) => {
  for (const text of argv.slice(1)) {
    if (text.startsWith('-')) continue;
    const { name, value } = splitAssignment(text);
    if (value !== undefined) shell.state.assign(name, value);
    shell.state.declare(name, { readonly: true });
  }
  return 0;
};

export const unset: Builtin = async ({ state, expansion }, argv) => {
  for (const name of argv.slice(1)) {
    if (name === '-f' || name === '-v') continue;
    const element = /^(\w+)\[(.+)\]$/.exec(name);
    if (argv.includes('-f')) state.functions.delete(name);
    else if (element) {
      const [, array = '', subscript = ''] = element;
      state.assignElement(array, await expansion.parameters.keyOf(array, subscript), undefined);
    } else if (!state.variables.has(name) && state.functions.has(name) && state.dialect === 'bash')
      state.functions.delete(name);
    else state.unset(name);
  }
  return 0;
};

export const shift: Builtin = ({ state }, [, count]) => {
  const by = numberOr(count, 1);
  if (by > state.positional.length) return 1;
  state.positional = state.positional.slice(by);
  return 0;
};

/** `getopts options name [args]` (POSIX). */
export const getopts: Builtin = async (shell, [, spec = '', name = '', ...given]) => {
  const { state } = shell;
  const args = given.length > 0 ? given : state.positional;
  const silent = spec.startsWith(':');
  let index = numberOr(state.get('OPTIND'), 1);
  // Inside `-abc`, the place of the next letter is kept where scripts don't look.
  let offset = numberOr(state.get('__optoffset'), 1);
  const arg = args[index - 1];
  const done = (): number => {
    state.assign('OPTIND', String(index));
    state.assign(name, '?');
    return 1;
  };
  if (arg === '--') {
    index += 1;
    return done();
  }
  if (arg === undefined || !/^-./.test(arg)) return done();
  const letter = arg[offset] ?? '';
  offset += 1;
  const at = spec.indexOf(letter);
  state.variables.delete('OPTARG');
  let option = letter;
  if (letter === ':' || at < 0) {
    option = '?';
    if (silent) state.assign('OPTARG', letter);
    else await shell.process.complain(optionText(shell, letter, 'illegal'));
  } else if (spec[at + 1] === ':') {
    const value = arg.slice(offset) || args[index];
    if (arg.length === offset) index += 1;
    offset = arg.length;
    if (value !== undefined) state.assign('OPTARG', value);
    else if (silent) {
      option = ':';
      state.assign('OPTARG', letter);
    } else {
      option = '?';
      await shell.process.complain(optionText(shell, letter, 'lacking'));
    }
  }
  if (offset >= arg.length) {
    index += 1;
    offset = 1;
  }
  state.assign('__optoffset', String(offset));
  state.assign('OPTIND', String(index));
  state.assign(name, option);
  return 0;
};

function optionText({ state }: Interpreter, letter: string, what: 'illegal' | 'lacking'): string {
  if (state.dialect === 'bash')
    return what === 'illegal'
      ? `${state.name}: illegal option -- ${letter}\n`
      : `${state.name}: option requires an argument -- ${letter}\n`;
  return what === 'illegal' ? `Illegal option -${letter}\n` : `No arg for -${letter} option\n`;
}

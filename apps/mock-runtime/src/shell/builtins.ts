import { posix } from 'node:path';
import { echo } from '../commands/echo';
import { kill } from '../commands/kill';
import { printf, formatPrintf } from '../commands/printf';
import { runTest } from '../commands/test';
import { exitCodeOf, parseSignal } from '../kernel/signals';
import { ExecError, lookPath, spawn } from '../kernel/spawn';
import type { Interpreter } from './interpreter';
import { LoopJump, ReturnJump } from './state';

/** A command that runs inside the shell itself. */
export type Builtin = (shell: Interpreter, argv: readonly string[]) => Promise<number> | number;

const number = (text: string | undefined, fallback: number): number =>
  text === undefined || !/^-?\d+$/.test(text) ? fallback : Number(text);

function jump(kind: 'break' | 'continue'): Builtin {
  return (shell, [, levels]) => {
    if (shell.state.loopDepth === 0) return 0;
    throw new LoopJump(kind, Math.max(1, number(levels, 1)));
  };
}

async function changeDirectory(shell: Interpreter, argv: readonly string[]): Promise<number> {
  const { process, state } = shell;
  const wanted = argv[1] === '--' ? argv[2] : argv[1];
  const target =
    wanted === undefined
      ? (state.get('HOME') ?? '/')
      : wanted === '-'
        ? (state.get('OLDPWD') ?? process.cwd)
        : wanted;
  const path = posix.resolve(process.cwd, target);
  if (!process.fs.exists(path)) {
    await shell.complain(
      state.dialect === 'bash'
        ? `cd: ${target}: No such file or directory`
        : `cd: can't cd to ${target}: No such file or directory`,
    );
    return 1;
  }
  if (!process.fs.isDirectory(path)) {
    await shell.complain(`cd: ${target}: Not a directory`);
    return 1;
  }
  state.assign('OLDPWD', process.cwd);
  process.cwd = path;
  state.assign('PWD', path);
  if (wanted === '-') await process.print(`${path}\n`);
  return 0;
}

async function exportVariables(shell: Interpreter, argv: readonly string[]): Promise<number> {
  const names = argv.slice(1).filter((arg) => arg !== '-p' && arg !== '-n');
  if (names.length === 0) {
    for (const [name, { exported, value }] of shell.state.variables)
      if (exported) await shell.process.print(`export ${name}='${String(value)}'\n`);
    return 0;
  }
  for (const text of names) {
    const { name, value } = splitAssignment(text);
    if (value !== undefined) shell.state.assign(name, value);
    shell.state.export(name);
  }
  return 0;
}

function splitAssignment(text: string): { name: string; value: string | undefined } {
  const at = text.indexOf('=');
  return at < 0 ? { name: text, value: undefined } : { name: text.slice(0, at), value: text.slice(at + 1) };
}

const declare: Builtin = (shell, argv) => {
  const saved = shell.state.locals.at(-1);
  for (const text of argv.slice(1)) {
    if (text.startsWith('-')) continue;
    const { name, value } = splitAssignment(text);
    if (saved && !saved.has(name)) saved.set(name, shell.state.variables.get(name));
    if (value !== undefined) shell.state.assign(name, value);
    else if (saved) shell.state.variables.delete(name);
    if (argv.includes('-x')) shell.state.export(name);
  }
  return 0;
};

const longOptions = {
  errexit: 'errexit',
  nounset: 'nounset',
  xtrace: 'xtrace',
  noglob: 'noglob',
  pipefail: 'pipefail',
} as const;
const shortOptions: Readonly<Record<string, keyof typeof longOptions>> = {
  e: 'errexit',
  u: 'nounset',
  x: 'xtrace',
  f: 'noglob',
};

/** Options as `sh -e script` and `set -e` take them; gives the index of the first other argument. */
export function applyOptions(shell: Interpreter, args: readonly string[]): number {
  let index = 0;
  for (; index < args.length; index++) {
    const arg = args[index] ?? '';
    if (arg === '--') return index + 1;
    if (!/^[-+][a-zA-Z]+$/.test(arg)) break;
    const on = arg.startsWith('-');
    for (const letter of arg.slice(1)) {
      if (letter === 'o') {
        const name = args[++index] ?? '';
        if (name in longOptions) shell.state.options[name as keyof typeof longOptions] = on;
      } else {
        const name = shortOptions[letter];
        if (name) shell.state.options[name] = on;
      }
    }
  }
  return index;
}

const set: Builtin = async (shell, argv) => {
  const args = argv.slice(1);
  if (args.length === 0) {
    for (const [name, { value }] of [...shell.state.variables].sort())
      await shell.process.print(`${name}='${String(value)}'\n`);
    return 0;
  }
  const rest = applyOptions(shell, args);
  if (rest < args.length || args[rest - 1] === '--') shell.state.positional = args.slice(rest);
  return 0;
};

const read: Builtin = async (shell, argv) => {
  const args = argv.slice(1);
  let raw = false;
  let delimiter = 10;
  let prompt: string | undefined;
  while (/^-\w/.test(args[0] ?? '')) {
    const flag = args.shift() ?? '';
    if (flag.includes('r')) raw = true;
    if (flag.endsWith('p')) prompt = args.shift();
    if (flag.endsWith('t') || flag.endsWith('n')) args.shift();
    if (flag.endsWith('d')) delimiter = Buffer.from(args.shift() ?? '')[0] ?? 0;
  }
  if (prompt !== undefined && shell.process.stdin.isTty) await shell.process.complain(prompt);
  const line = await shell.process.stdin.readLine(shell.process.signal, delimiter);
  const complete = line !== undefined && line.at(-1) === delimiter;
  let text = line ? line.toString().slice(0, complete ? -1 : undefined) : '';
  if (!raw) text = text.replace(/\\(.)/g, '$1');
  const names = args.length > 0 ? args : ['REPLY'];
  const ifs = shell.state.get('IFS') ?? ' \t\n';
  assignFields(shell, names, text, ifs);
  return complete ? 0 : 1;
};

function assignFields(shell: Interpreter, names: readonly string[], text: string, ifs: string): void {
  let rest = text;
  const blanks = [...ifs].filter((c) => /\s/.test(c)).join('');
  const trim = (s: string) => {
    let start = 0;
    let end = s.length;
    while (start < end && blanks.includes(s[start] ?? '')) start++;
    while (end > start && blanks.includes(s[end - 1] ?? '')) end--;
    return s.slice(start, end);
  };
  rest = trim(rest);
  names.forEach((name, index) => {
    if (index === names.length - 1) return shell.state.assign(name, rest);
    const at = [...rest].findIndex((c) => ifs.includes(c));
    shell.state.assign(name, at < 0 ? rest : rest.slice(0, at));
    rest = at < 0 ? '' : trim(rest.slice(at + 1));
  });
}

const trap: Builtin = async (shell, argv) => {
  const args = argv.slice(1).filter((arg) => arg !== '--');
  if (args.length === 0 || args[0] === '-p') {
    for (const [signal, command] of shell.state.traps)
      await shell.process.print(`trap -- '${command}' ${signal}\n`);
    return 0;
  }
  const [command = '', ...conditions] = args.length === 1 ? ['-', ...args] : args;
  for (const condition of conditions) {
    if (condition === 'EXIT' || condition === '0') {
      if (command === '-') shell.state.traps.delete('EXIT');
      else shell.state.traps.set('EXIT', command);
      continue;
    }
    const signal = parseSignal(condition);
    if (!signal) {
      await shell.complain(`trap: ${condition}: invalid signal specification`);
      return 1;
    }
    if (command === '-') {
      shell.state.traps.delete(signal);
      shell.process.resetSignal(signal);
    } else {
      shell.state.traps.set(signal, command);
      if (command === '') shell.process.onSignal(signal, () => undefined);
      else shell.catchSignal(signal);
    }
  }
  return 0;
};

/** Waits for jobs; a trapped signal ends it early with 128 + its number. */
const wait: Builtin = async (shell, argv) => {
  const targets =
    argv.length > 1
      ? argv
          .slice(1)
          .filter((a) => /^\d+$/.test(a))
          .map(Number)
      : [...shell.jobs.keys()];
  let status = 0;
  for (const pid of targets) {
    const job = shell.jobs.get(pid);
    if (!job) {
      status = argv.length > 1 ? 127 : 0;
      continue;
    }
    const ended = await Promise.race([job.exited, shell.untilTrap()]);
    if (ended === undefined) {
      await shell.runTraps();
      return exitCodeOf('SIGTERM');
    }
    shell.jobs.delete(pid);
    status = argv.length > 1 ? ended : 0;
  }
  return status;
};

const execute: Builtin = async (shell, argv) => {
  const command = argv.slice(1);
  if (command.length === 0) return 0;
  try {
    shell.process.env = shell.state.environment();
    return shell.process.exit(await spawn.become(shell.process, command));
  } catch (error) {
    if (!(error instanceof ExecError)) throw error;
    await shell.complain(`exec: ${shell.execMessage(command[0] ?? '', error)}`);
    return shell.process.exit(error.exitCode);
  }
};

const source: Builtin = async (shell, [name = '', file = '']) => {
  const path = posix.resolve(shell.process.cwd, file);
  if (!shell.process.fs.exists(path)) {
    await shell.complain(`${name}: ${file}: No such file or directory`);
    return 1;
  }
  return shell.runText(shell.process.fs.readFile(path).toString());
};

const describe: Builtin = async (shell, argv) => {
  let status = 0;
  for (const name of argv.slice(1)) {
    if (name.startsWith('-')) continue;
    try {
      const plain = argv.includes('-v');
      if (builtins[name]) await shell.process.print(plain ? `${name}\n` : `${name} is a shell builtin\n`);
      else if (shell.state.functions.has(name))
        await shell.process.print(plain ? `${name}\n` : `${name} is a function\n`);
      else {
        const path = lookPath(name, {
          fs: shell.process.fs,
          cwd: shell.process.cwd,
          path: shell.state.get('PATH'),
        });
        await shell.process.print(plain ? `${path}\n` : `${name} is ${path}\n`);
      }
    } catch (error) {
      if (!(error instanceof ExecError)) throw error;
      if (!argv.includes('-v')) await shell.complain(`${name}: not found`);
      status = 1;
    }
  }
  return status;
};

/** `local x=1` and its like. */
export const builtins: Readonly<Record<string, Builtin>> = Object.assign(
  Object.create(null) as Record<string, Builtin>,
  {
    ':': () => 0,
    true: () => 0,
    false: () => 1,
    '.': source,
    source,
    '[': (shell, argv) => runTest(shell.process, argv),
    test: (shell, argv) => runTest(shell.process, argv),
    break: jump('break'),
    continue: jump('continue'),
    cd: changeDirectory,
    command: async (shell, argv) => {
      if (argv[1] === '-v' || argv[1] === '-V') return describe(shell, argv);
      const own = builtins[argv[1] ?? ''];
      if (own) return own(shell, argv.slice(1));
      const child = await spawn.start(shell.process, argv.slice(1), { env: shell.state.environment() });
      return child.exited;
    },
    declare,
    typeset: declare,
    local: declare,
    echo: (shell, argv) => echo(shell.process, argv),
    eval: (shell, argv) => shell.runText(argv.slice(1).join(' ')),
    exec: execute,
    exit: (shell, [, code]) => shell.process.exit(number(code, shell.state.status)),
    export: exportVariables,
    jobs: async (shell) => {
      let index = 0;
      for (const job of shell.jobs.values())
        await shell.process.print(
          `[${++index}]+  ${job.exitCode === undefined ? 'Running' : 'Done'}\t${job.argv.join(' ')}\n`,
        );
      return 0;
    },
    kill: (shell, argv) => kill(shell.process, argv, (spec) => [...shell.jobs.keys()][Number(spec) - 1]),
    let: async (shell, argv) => {
      let last = 0n;
      for (const text of argv.slice(1)) {
        await shell.runText(`__let=$((${text}))`);
        last = BigInt(shell.state.get('__let') ?? '0');
      }
      return last === 0n ? 1 : 0;
    },
    printf: async (shell, argv) => {
      if (argv[1] === '-v' && argv[2]) {
        shell.state.assign(argv[2], formatPrintf(argv.slice(3)).text);
        return 0;
      }
      return printf(shell.process, argv);
    },
    pwd: async (shell) => {
      await shell.process.print(`${shell.process.cwd}\n`);
      return 0;
    },
    read,
    readonly: (shell, argv) => {
      for (const text of argv.slice(1)) {
        const { name, value } = splitAssignment(text);
        if (value !== undefined) shell.state.assign(name, value);
        const variable = shell.state.variables.get(name);
        if (variable) variable.readonly = true;
      }
      return 0;
    },
    return: (shell, [, code]) => {
      throw new ReturnJump(number(code, shell.state.status) & 255);
    },
    set,
    shift: (shell, [, count]) => {
      const by = number(count, 1);
      if (by > shell.state.positional.length) return 1;
      shell.state.positional = shell.state.positional.slice(by);
      return 0;
    },
    shopt: () => 0,
    trap,
    type: describe,
    ulimit: async (shell) => {
      await shell.process.print('unlimited\n');
      return 0;
    },
    umask: async (shell, [, mask]) => {
      if (mask === undefined) await shell.process.print('0022\n');
      return 0;
    },
    unset: (shell, argv) => {
      for (const name of argv.slice(1)) {
        if (name === '-f' || name === '-v') continue;
        if (argv.includes('-f')) shell.state.functions.delete(name);
        else shell.state.unset(name);
      }
      return 0;
    },
    wait,
  } satisfies Record<string, Builtin>,
);

import { posix } from 'node:path';
import type { Process } from '../kernel/process';
import { spawn } from '../kernel/spawn';
import { builtins } from './builtins';
import { applyOptions } from './builtins/options';
import { followScript, interact } from './interactive';
import { Interpreter } from './interpreter';
import { ShellState } from './state';

/** `sh`, `ash`, `bash`: a script from `-c`, a file or stdin, or a conversation on a terminal. */
export async function sh(process: Process): Promise<number> {
  const [command = 'sh', ...args] = process.argv;
  const dialect = command.endsWith('bash') ? 'bash' : 'sh';
  const operand = args.findIndex((arg) => !/^[-+]/.test(arg));
  const flags = operand < 0 ? args : args.slice(0, operand);
  const isCommand = flags.some((arg) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(arg));
  const source = isCommand ? 'command' : 'file';
  const shell = new Interpreter(process, ShellState.of(process, command.replace(/^-/, ''), dialect, source));
  const rest = args.slice(applyOptions(shell, args));
  if (isCommand) {
    const [script, name, ...positional] = rest;
    if (script === undefined) {
      await process.complain(`${command}: -c requires an argument\n`);
      return 2;
    }
    const direct = directCommand(process, script);
    if (direct) return spawn.become(process, direct);
    return runScript(withName(shell, name), script, positional);
  }
  const [file, ...positional] = rest;
  if (file !== undefined) {
    const path = posix.resolve(process.cwd, file);
    if (!process.fs.exists(path)) {
      await process.complain(`${command}: can't open '${file}': No such file or directory\n`);
      return 127;
    }
    return runScript(withName(shell, file), process.fs.readFile(path).toString(), positional);
  }
  if (process.stdin.isTty || args.includes('-i')) return interact(shell);
  return shell.finish(() => followStdin(shell));
}

/** `sh -c command`: one plain command takes the shell's place, as ash and bash do; it is then the one to be signalled. */
function directCommand({ fs, env, cwd }: Process, script: string): string[] | undefined {
  const text = script.trim();
  if (!plainCommand.test(text)) return undefined;
  const argv = (text.match(plainWord) ?? []).map((word) => (/^['"]/.test(word) ? word.slice(1, -1) : word));
  const [command = ''] = argv;
  if (builtins[command]) return undefined;
  const folders = command.includes('/') ? [cwd] : (env.PATH ?? '').split(':');
  return folders.some((folder) => fs.isExecutable(posix.resolve(folder, command))) ? argv : undefined;
}

/** Words in which nothing is expanded, quoted or not. */
const plainWord = /[\w./:,@%+=-]+|'[^']*'|"[^"$`\\]*"/g;
const plainCommand = /^[\w./-]+(?: +(?:[\w./:,@%+=-]+|'[^']*'|"[^"$`\\]*"))*$/;

function withName(shell: Interpreter, name: string | undefined): Interpreter {
  if (name === undefined) return shell;
  const { dialect, options, source } = shell.state;
  const state = ShellState.of(shell.process, name, dialect, source);
  for (const option of options) state.options.add(option);
  if (dialect === 'bash' && source === 'file') state.assign('BASH_SOURCE', [name]);
  return new Interpreter(shell.process, state);
}

async function runScript(shell: Interpreter, text: string, positional: readonly string[]): Promise<number> {
  shell.state.positional = positional;
  return shell.finish(() => shell.runText(text));
}

async function followStdin(shell: Interpreter): Promise<number> {
  await followScript(shell);
  return shell.state.status;
}

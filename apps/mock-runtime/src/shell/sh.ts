import { posix } from 'node:path';
import { Exit, type Process } from '../kernel/process';
import { spawn } from '../kernel/spawn';
import { applyOptions, builtins } from './builtins';
import { followScript, interact } from './interactive';
import { Interpreter } from './interpreter';
import { LoopJump, ReturnJump, ShellError, ShellState } from './state';

/** `sh`, `ash`, `bash`: a script from `-c`, a file or stdin, or a conversation on a terminal. */
export async function sh(process: Process): Promise<number> {
  const [command = 'sh', ...args] = process.argv;
  const dialect = command.endsWith('bash') ? 'bash' : 'sh';
  const state = ShellState.of(process, command.replace(/^-/, ''), dialect);
  const shell = new Interpreter(process, state);
  const flags = args.filter((arg) => /^-[a-z]*c[a-z]*$/.test(arg));
  const rest = args.slice(applyOptions(shell, args));
  if (flags.length > 0) {
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
  return shell.runExitTrap(await statusOf(shell, () => followStdin(shell)));
}

/** `sh -c command`: one plain command takes the shell's place, as ash and bash do; it is then the one to be signalled. */
function directCommand({ fs, env }: Process, script: string): string[] | undefined {
  if (!/^[\w./-]+(?: +[\w./:,-]+)*$/.test(script)) return undefined;
  const argv = script.split(/ +/);
  const [command = ''] = argv;
  const path = (env.PATH ?? '').split(':').some((dir) => fs.isExecutable(posix.join(dir, command)));
  return path && !builtins[command] ? argv : undefined;
}

function withName(shell: Interpreter, name: string | undefined): Interpreter {
  if (name === undefined) return shell;
  const state = ShellState.of(shell.process, name, shell.state.dialect);
  Object.assign(state.options, shell.state.options);
  return new Interpreter(shell.process, state);
}

async function runScript(shell: Interpreter, text: string, positional: readonly string[]): Promise<number> {
  shell.state.positional = positional;
  return shell.runExitTrap(await statusOf(shell, () => shell.runText(text)));
}

async function followStdin(shell: Interpreter): Promise<number> {
  await followScript(shell);
  return shell.state.status;
}

async function statusOf(shell: Interpreter, run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof Exit) return error.code;
    if (error instanceof ReturnJump) return error.code;
    if (error instanceof LoopJump) return 0;
    if (!(error instanceof ShellError)) throw error;
    await shell.complain(error.message);
    return error.exitCode;
  }
}

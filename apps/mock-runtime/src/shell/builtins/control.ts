import { posix } from 'node:path';
import { ExecError, spawn } from '../../kernel/spawn';
import { evaluate } from '../arithmetic';
import { execMessage } from '../messages';
import { LoopJump, ReturnJump, ShellError } from '../state';
import { numberOr, type Builtin } from './builtin';

/** `break N`, `continue N`. */
export function jump(kind: 'break' | 'continue'): Builtin {
  return async (shell, [, levels]) => {
    if (shell.state.loopDepth > 0) throw new LoopJump(kind, Math.max(1, numberOr(levels, 1)));
    if (shell.state.dialect === 'bash')
      await shell.complainAs(kind, "only meaningful in a `for', `while', or `until' loop");
    return 0;
  };
}

export const exit: Builtin = async (shell, [, code]) => {
  if (code !== undefined && !/^-?\d+$/.test(code)) {
    const isBash = shell.state.dialect === 'bash';
    await shell.complainAs('exit', isBash ? `${code}: numeric argument required` : `Illegal number: ${code}`);
    return shell.process.exit(2);
  }
  return shell.process.exit(numberOr(code, shell.state.status));
};

export const leaveFunction: Builtin = (shell, [, code]) => {
  throw new ReturnJump(numberOr(code, shell.state.status) & 255);
};

/** `exec command`: it takes the shell's place. */
export const execute: Builtin = async (shell, argv) => {
  const command = argv.slice(1);
  if (command.length === 0) return 0;
  try {
    shell.process.env = shell.state.environment();
    return shell.process.exit(await spawn.become(shell.process, command));
  } catch (error) {
    if (!(error instanceof ExecError)) throw error;
    const message = execMessage(shell.state, command[0] ?? '', error).replace(/command (not found)$/, '$1');
    await shell.complainAs('exec', message);
    return shell.process.exit(error.exitCode);
  }
};

/** `. file`: its commands run in this shell. */
export const source: Builtin = async (shell, [name = '', file = '', ...args]) => {
  const { process, state } = shell;
  const path = posix.resolve(process.cwd, file);
  if (!process.fs.exists(path)) {
    if (state.dialect === 'bash') {
      await shell.complain(`${file}: No such file or directory`);
      return 1;
    }
    await shell.complainAs(name, `can't open '${file}': No such file or directory`);
    return process.exit(2);
  }
  const { positional } = state;
  if (args.length > 0) state.positional = args;
  try {
    return await shell.runText(process.fs.readFile(path).toString());
  } catch (error) {
    if (error instanceof ReturnJump) return error.code;
    throw error;
  } finally {
    state.positional = positional;
  }
};

export const evaluateText: Builtin = async (shell, argv) => {
  const text = argv.slice(1).join(' ');
  if (text === '') return 0;
  return shell.runText(text);
};

/** `let expression…`. */
export const letExpressions: Builtin = async (shell, argv) => {
  let last = 0n;
  for (const text of argv.slice(1)) {
    const scope = shell.expansion.scope(text);
    last = await evaluate(await scope.parse(text), scope);
  }
  if (argv.length < 2) throw new ShellError('let: expression expected');
  return last === 0n ? 1 : 0;
};

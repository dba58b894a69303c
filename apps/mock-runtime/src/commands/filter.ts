import { posix } from 'node:path';
import { openPath } from '../files/open-path';
import type { Process } from '../kernel/process';
import { absolute } from './paths';

/** Filters that read line by line where `-u`-like streaming matters: each line passes as soon as it comes. */
const streaming = new Set(['grep', 'egrep', 'fgrep', 'sed', 'tr', 'cut']);

/**
 * A command of the just-bash package: a finite filter over stdin and files. It gets a shell of its own for one call, with
 * the container's files; its limits are lifted, since the container's process can be killed.
 */
export async function filterCommand(process: Process): Promise<number> {
  const [name = '', ...given] = process.argv;
  const command = posix.basename(name);
  const args = command === 'sed' ? given.map(oneLineText) : given;
  const { Bash } = await import('just-bash');
  const { FilterFiles } = await import('../files/filter-files');
  const bash = new Bash({
    fs: new FilterFiles(process),
    cwd: process.cwd,
    env: process.env,
    defenseInDepth: false,
    executionLimits: { maxCommandCount: Number.MAX_SAFE_INTEGER, maxLoopIterations: Number.MAX_SAFE_INTEGER },
  });
  const run = async (input: Buffer): Promise<number> => {
    const { stdout, stderr, exitCode, stdoutKind } = await bash.exec(command, {
      args,
      cwd: process.cwd,
      stdin: input.toString('latin1'),
      stdinKind: 'bytes',
      signal: process.signal,
    });
    if (stdout !== '') await process.print(Buffer.from(stdout, stdoutKind === 'bytes' ? 'latin1' : 'utf8'));
    if (stderr !== '') await process.complain(stderr.replace(/^bash: (?:line \d+: )?/gm, ''));
    return exitCode;
  };
  if (streaming.has(command) && readsStdin(process, command, args) && passesLines(command, args)) {
    let status = command.endsWith('grep') ? 1 : 0;
    for (
      let line = await process.stdin.readLine(process.signal);
      line;
      line = await process.stdin.readLine(process.signal)
    ) {
      const code = await run(line);
      if (code === 0) status = 0;
      else if (code > 1) return code;
    }
    return status;
  }
  const needsInput = readsStdin(process, command, args) || args.includes('-');
  return run(needsInput ? await readInput(process) : Buffer.alloc(0));
}

/** `1i\text` on one line, which sed takes as it takes `1i text`. */
const oneLineText = (script: string): string =>
  script.replace(/^((?:\d+|\$|\/[^/]*\/)?\s*[aic])\\(?=[^\n])/, '$1 ');

/** A line can be treated by itself when the command keeps no state between lines. */
function passesLines(command: string, args: readonly string[]): boolean {
  const flags = args.filter((arg) => /^-[a-zA-Z]/.test(arg)).join('');
  if (command === 'sed') return args.length === 1 && /^s(.).*\1.*\1[gIi]*$/.test(args[0] ?? '');
  return !/[cnlLqmABCo]/.test(flags) && !args.some((arg) => arg.startsWith('--'));
}

/** Their first operand is a pattern or program, not a file, unless an option has given one. */
const takesProgram = new Set(['grep', 'egrep', 'fgrep', 'rg', 'sed', 'awk', 'jq']);

function readsStdin(process: Process, command: string, args: readonly string[]): boolean {
  const operands = args.filter((arg) => !arg.startsWith('-'));
  const given = args.some((arg) => /^-[a-zA-Z]*[ef]$/.test(arg) || arg.startsWith('--regexp'));
  const files = takesProgram.has(command) && !given ? operands.slice(1) : operands;
  return files.every((arg) => !process.fs.exists(absolute(process, arg)));
}

async function readInput(process: Process): Promise<Buffer> {
  if (process.stdin.path === '/dev/null') return Buffer.alloc(0);
  return process.stdin.isTty
    ? openPath(process, '/dev/null', 'read').readAll()
    : process.stdin.readAll(process.signal);
}

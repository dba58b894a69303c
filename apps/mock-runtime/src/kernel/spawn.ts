import { posix } from 'node:path';
import type { FileSystem } from '../files/file-system';
import type { Process, Program } from './process';

/** Why a command can't be executed, in the words of Go's os/exec, which runc repeats. */
export class ExecError extends Error {
  override readonly name = 'ExecError';

  constructor(
    readonly code: 'not found' | 'not executable',
    message: string,
  ) {
    super(message);
  }

  /** What a shell's `$?` is. */
  get exitCode(): number {
    return this.code === 'not found' ? 127 : 126;
  }
}

export interface Resolved {
  program: Program;
  argv: readonly string[];
}

const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const maxInterpreters = 4;

export interface ExecEnvironment {
  fs: FileSystem;
  cwd: string;
  path?: string;
  /** As execvp(3): what is found in $PATH but may not be executed is told apart; Go's LookPath passes over it. */
  tellsDenied?: boolean;
}

/** The file that a command names: by path, or in $PATH. */
export function lookPath(
  command: string,
  { fs, cwd, path = defaultPath, tellsDenied }: ExecEnvironment,
): string {
  if (command.includes('/')) {
    const file = posix.resolve(cwd, command);
    if (!fs.exists(file))
      throw new ExecError('not found', `exec: "${command}": stat ${command}: no such file or directory`);
    if (fs.stat(file).kind === 'directory')
      throw new ExecError('not executable', `exec: "${command}": is a directory`);
    if (!fs.isExecutable(file))
      throw new ExecError('not executable', `exec: "${command}": permission denied`);
    return file;
  }
  let denied = false;
  for (const dir of path.split(':')) {
    const file = posix.resolve(cwd, dir, command);
    if (fs.isExecutable(file)) return file;
    if (tellsDenied && !denied) denied = fs.exists(file) && !fs.isDirectory(file);
  }
  if (denied) throw new ExecError('not executable', `exec: "${command}": permission denied`);
  throw new ExecError('not found', `exec: "${command}": executable file not found in $PATH`);
}

/** The code behind a command line; scripts are given to the interpreter of their first line. */
export async function resolveProgram(
  argv: readonly string[],
  environment: ExecEnvironment,
  depth = 0,
): Promise<Resolved> {
  const [command = ''] = argv;
  const file = lookPath(command, environment);
  const node = environment.fs.node(file);
  if (node?.kind === 'file' && node.program) return { program: await node.program(), argv };
  const head = environment.fs.readFile(file).subarray(0, 256).toString();
  const interpreter = /^#!\s*(\S+)(?:[ \t]+(.+?))?[ \t]*\r?\n/.exec(head);
  if (interpreter && depth < maxInterpreters) {
    const [, program = '', option] = interpreter;
    const next = [program, ...(option === undefined ? [] : [option]), file, ...argv.slice(1)];
    return resolveProgram(next, environment, depth + 1);
  }
  if (head.startsWith('\x7fELF') || head.includes('\0'))
    throw new ExecError('not executable', `exec: "${command}": exec format error`);
  // A text file without first line is a shell script, as execvp(3) has it.
  return resolveProgram(['/bin/sh', file, ...argv.slice(1)], environment, maxInterpreters);
}

export const spawn = {
  /** As execve(2): the process goes on as another program. */
  async become(process: Process, argv: readonly string[]): Promise<number> {
    const resolved = await resolveProgram(argv, environmentOf(process));
    process.become(resolved.argv);
    return resolved.program(process);
  },

  /** A child that runs a command; rejects with ExecError before it starts. */
  async start(
    parent: Process,
    argv: readonly string[],
    changes: Parameters<Process['fork']>[0] = {},
  ): Promise<Process> {
    const resolved = await resolveProgram(argv, {
      fs: parent.fs,
      cwd: changes.cwd ?? parent.cwd,
      path: (changes.env ?? parent.env).PATH,
      tellsDenied: true,
    });
    const child = parent.fork({ ...changes, argv: resolved.argv });
    void child.run(resolved.program);
    return child;
  },
};

function environmentOf(process: Process): ExecEnvironment {
  return { fs: process.fs, cwd: process.cwd, path: process.env.PATH, tellsDenied: true };
}

import { posix } from 'node:path';
import { FileError } from '../files/file-error';
import type { Process } from '../kernel/process';

export const absolute = (process: Process, path: string): string => posix.resolve(process.cwd, path);

export const commandName = (process: Process): string => posix.basename(process.argv[0] ?? '');

/** Whose commands these are: images that bring bash have GNU's, the others busybox's. They word errors differently. */
export const hasGnuTools = (process: Process): boolean => process.fs.exists('/bin/bash');

/** How a command words that it failed with a path: `can't open 'x'`. */
export interface Failing {
  busybox?: (path: string) => string;
  gnu?: (path: string) => string;
}

/** Runs a file operation; a failure is told as `name: path: message`. False when it failed. */
export async function attempt(
  process: Process,
  path: string,
  work: () => void | Promise<void>,
  failing: Failing = {},
): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    const word = (hasGnuTools(process) ? failing.gnu : failing.busybox) ?? ((shown: string) => shown);
    await process.complain(`${commandName(process)}: ${word(path)}: ${error.message}\n`);
    return false;
  }
}

export interface ParsedArgs {
  /** One-letter flags that were given, e.g. `rf`. */
  flags: ReadonlySet<string>;
  /** Values of flags that take one. */
  values: ReadonlyMap<string, string>;
  rest: string[];
}

/** Splits `-rf -n 3 a b`; `valued` are the letters that take a value. Long options keep their name as a flag. */
export function parseArgs(args: readonly string[], valued = ''): ParsedArgs {
  const flags = new Set<string>();
  const values = new Map<string, string>();
  const rest: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? '';
    if (arg === '--') {
      rest.push(...args.slice(i + 1));
      break;
    }
    if (arg.startsWith('--')) {
      const [name = '', value] = arg.slice(2).split('=', 2);
      flags.add(name);
      if (value !== undefined) values.set(name, value);
      continue;
    }
    if (!/^-[^-]/.test(arg)) {
      rest.push(arg);
      continue;
    }
    for (let at = 1; at < arg.length; at++) {
      const letter = arg[at] ?? '';
      flags.add(letter);
      if (!valued.includes(letter)) continue;
      values.set(letter, arg.slice(at + 1) || (args[++i] ?? ''));
      break;
    }
  }
  return { flags, values, rest };
}

/** `-5`, as `head` and `tail` take it, for `-n5`; in `-n -5` it is a value. */
export const withoutBareCounts = (args: readonly string[]): string[] =>
  args.map((arg, index) => (/^-[nc]$/.test(args[index - 1] ?? '') ? arg : arg.replace(/^-(\d+)$/, '-n$1')));

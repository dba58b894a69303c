import { posix } from 'node:path';
import { FileError } from '../files/file-error';
import type { FileSystem } from '../files/file-system';
import type { Process } from '../kernel/process';
import { absolute, attempt, commandName, parseArgs, type Failing } from './paths';

/** Commands that change files. */

const failingTo = (busybox: string, gnu: string): Failing => ({
  busybox: (path) => `${busybox}'${path}'`,
  gnu: (path) => `${gnu} '${path}'`,
});

async function forEach(
  process: Process,
  names: readonly string[],
  { work, failing }: { work: (path: string, name: string) => void; failing?: Failing },
): Promise<number> {
  let status = 0;
  for (const name of names)
    if (!(await attempt(process, name, () => work(absolute(process, name), name), failing))) status = 1;
  return status;
}

export function touch(process: Process): Promise<number> {
  const { rest, flags, values } = parseArgs(process.argv.slice(1), 'dtr');
  const mode = 0o666 & ~process.umask;
  const at = timeOf(process, values);
  const work = (path: string) => {
    const isThere = process.fs.exists(path);
    if (!isThere && flags.has('c')) return;
    if (!isThere) process.fs.writeFile(path, Buffer.alloc(0), { user: process.user, mode });
    if (isThere || values.size > 0) process.fs.utimes(path, at);
  };
  return forEach(process, rest, { work, failing: { gnu: (path) => `cannot touch '${path}'` } });
}

/** Of `-r FILE`, `-d TEXT` or `-t [[CC]YY]MMDDhhmm[.ss]`, else now. */
function timeOf(process: Process, values: ReadonlyMap<string, string>): number {
  const [reference, text, stamp] = ['r', 'd', 't'].map((option) => values.get(option));
  if (reference !== undefined) return process.fs.stat(absolute(process, reference)).mtime;
  const [, date = '', seconds = '0'] = /^(\d{8,12})(?:\.(\d\d))?$/.exec(stamp ?? '') ?? [];
  if (date !== '') {
    const year = new Date(process.clock.now()).getUTCFullYear();
    const [full = '', rest = ''] = [date.slice(0, -8) || String(year), date.slice(-8)];
    const [month = 1, day = 1, hour = 0, minute = 0] = (rest.match(/../g) ?? []).map(Number);
    return Date.UTC(
      full.length === 2 ? 2000 + Number(full) : Number(full),
      month - 1,
      day,
      hour,
      minute,
      Number(seconds),
    );
  }
  const parsed = text?.startsWith('@') ? Number(text.slice(1)) * 1000 : Date.parse(`${text ?? ''}Z`);
  return Number.isNaN(parsed) ? process.clock.now() : parsed;
}

export function mkdir(process: Process): Promise<number> {
  const { rest, flags, values } = parseArgs(process.argv.slice(1), 'm');
  const mode = values.has('m') ? parseInt(values.get('m') ?? '', 8) : 0o777 & ~process.umask;
  return forEach(process, rest, {
    work: (path) => process.fs.mkdir(path, { parents: flags.has('p'), mode }),
    failing: failingTo("can't create directory ", 'cannot create directory'),
  });
}

export function mkfifo(process: Process): Promise<number> {
  const { rest, values } = parseArgs(process.argv.slice(1), 'm');
  const mode = values.has('m') ? parseInt(values.get('m') ?? '', 8) : 0o666 & ~process.umask;
  return forEach(process, rest, {
    work: (path) => process.fs.makeFifo(path, mode),
    failing: failingTo('', 'cannot create fifo'),
  });
}

export function rmdir(process: Process): Promise<number> {
  return forEach(process, parseArgs(process.argv.slice(1)).rest, {
    work: (path) => process.fs.rmdir(path),
    failing: failingTo('', 'failed to remove'),
  });
}

export function rm(process: Process): Promise<number> {
  const { rest, flags } = parseArgs(process.argv.slice(1));
  const recursive = flags.has('r') || flags.has('R');
  const work = (path: string) => {
    if (!process.fs.exists(path) && !process.fs.existsAsLink(path)) {
      if (flags.has('f')) return;
      throw new FileError('ENOENT', path);
    }
    removeTree(process.fs, path, recursive);
  };
  return forEach(process, rest, { work, failing: failingTo("can't remove ", 'cannot remove') });
}

function removeTree(fs: FileSystem, path: string, recursive: boolean): void {
  if (fs.lstat(path).kind !== 'directory') return fs.unlink(path);
  if (!recursive) throw new FileError('EISDIR', path);
  for (const name of fs.readdir(path)) removeTree(fs, posix.join(path, name), true);
  fs.rmdir(path);
}

export function cp(process: Process): Promise<number> {
  const { rest, flags } = parseArgs(process.argv.slice(1));
  const recursive = flags.has('r') || flags.has('R') || flags.has('a');
  return toTarget(process, rest, {
    work: (from, to) => copyTree(process.fs, from, to, recursive),
    failing: failingTo("can't stat ", 'cannot stat'),
  });
}

function copyTree(fs: FileSystem, from: string, to: string, recursive: boolean): void {
  const info = recursive ? fs.lstat(from) : fs.stat(from);
  if (info.kind === 'link') return fs.symlink(fs.readlink(from), to);
  if (info.kind !== 'directory') return fs.copyFile(from, to);
  if (!recursive) throw new FileError('EISDIR', from);
  fs.mkdir(to, { parents: true });
  for (const name of fs.readdir(from)) copyTree(fs, posix.join(from, name), posix.join(to, name), true);
}

export function mv(process: Process): Promise<number> {
  const work = (from: string, to: string) => {
    try {
      process.fs.rename(from, to);
    } catch (error) {
      if (!(error instanceof FileError) || error.code !== 'EXDEV') throw error;
      copyTree(process.fs, from, to, true);
      removeTree(process.fs, from, true);
    }
  };
  const failing = failingTo("can't rename ", 'cannot stat');
  return toTarget(process, parseArgs(process.argv.slice(1)).rest, { work, failing });
}

async function toTarget(
  process: Process,
  names: readonly string[],
  { work, failing }: { work: (from: string, to: string) => void; failing: Failing },
): Promise<number> {
  const target = names.at(-1);
  if (names.length < 2 || target === undefined) {
    await process.complain(`${commandName(process)}: missing file operand\n`);
    return 1;
  }
  const to = absolute(process, target);
  const into = process.fs.isDirectory(to);
  return forEach(process, names.slice(0, -1), {
    work: (from) => work(from, into ? posix.join(to, posix.basename(from)) : to),
    failing,
  });
}

export async function ln(process: Process): Promise<number> {
  const { rest, flags } = parseArgs(process.argv.slice(1));
  const [target = '', name = posix.basename(target)] = rest;
  const work = (path: string) => {
    const at =
      process.fs.isDirectory(path) && !flags.has('n') ? posix.join(path, posix.basename(target)) : path;
    if (flags.has('f') && (process.fs.exists(at) || process.fs.existsAsLink(at))) process.fs.unlink(at);
    if (flags.has('s')) process.fs.symlink(target, at);
    else process.fs.copyFile(absolute(process, target), at);
  };
  const gnu = (path: string) => `failed to create ${flags.has('s') ? 'symbolic' : 'hard'} link '${path}'`;
  return forEach(process, [name], { work, failing: { gnu } });
}

export function chmod(process: Process): Promise<number> {
  const [mode = '', ...names] = process.argv.slice(1).filter((arg) => !/^-[RvfR]+$/.test(arg));
  return forEach(process, names, {
    work: (path) => process.fs.chmod(path, newMode(process.fs.stat(path).mode, mode)),
    failing: { gnu: (path) => `cannot access '${path}'` },
  });
}

function newMode(before: number, text: string): number {
  if (/^[0-7]+$/.test(text)) return parseInt(text, 8);
  let mode = before;
  for (const clause of text.split(',')) {
    const [, who = '', operator = '+', what = ''] = /^([ugoa]*)([-+=])([rwxXst]*)$/.exec(clause) ?? [];
    const bits = (what.includes('r') ? 4 : 0) | (what.includes('w') ? 2 : 0) | (/[xX]/.test(what) ? 1 : 0);
    for (const [letter, shift] of [
      ['u', 6],
      ['g', 3],
      ['o', 0],
    ] as const) {
      if (who !== '' && !who.includes('a') && !who.includes(letter)) continue;
      if (operator === '=') mode &= ~(7 << shift);
      mode = operator === '-' ? mode & ~(bits << shift) : mode | (bits << shift);
    }
  }
  return mode;
}

export async function readlink(process: Process): Promise<number> {
  const { rest, flags } = parseArgs(process.argv.slice(1));
  const resolve = flags.has('f') || commandName(process) === 'realpath';
  let status = 0;
  for (const name of rest) {
    const path = absolute(process, name);
    const ok = await attempt(process, name, () =>
      process.print(`${resolve ? process.fs.realpath(path) : process.fs.readlink(path)}\n`),
    );
    if (!ok) status = 1;
  }
  return status;
}

export async function mktemp(process: Process): Promise<number> {
  const { flags, rest } = parseArgs(process.argv.slice(1), 'p');
  const suffix = process.machine.random.hex(3);
  const path = absolute(process, (rest[0] ?? '/tmp/tmp.XXXXXX').replace(/X+$/, suffix));
  if (flags.has('d')) process.fs.mkdir(path, { mode: 0o700 });
  else process.fs.writeFile(path, Buffer.alloc(0), { mode: 0o600, user: process.user });
  await process.print(`${path}\n`);
  return 0;
}

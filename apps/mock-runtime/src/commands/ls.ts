import { posix } from 'node:path';
import { groupEntries, passwdEntries } from '../containers/users';
import type { FileInfo } from '../files/file-info';
import type { Process } from '../kernel/process';
import { absolute, attempt, hasGnuTools, parseArgs } from './paths';

/** `ls [-laAdhL1] [path…]`. */
export async function ls(process: Process): Promise<number> {
  const { flags, rest } = parseArgs(process.argv.slice(1));
  const { fs } = process;
  let status = 0;
  const paths = rest.length > 0 ? inOrder(process, rest) : ['.'];
  let isFirst = true;
  for (const name of paths) {
    const path = absolute(process, name);
    let directory: string | undefined;
    let ok = await attempt(
      process,
      name,
      async () => {
        const info = fs.lstat(path);
        const isDirectory =
          info.kind === 'directory' || (fs.exists(path) && !flags.has('l') && fs.isDirectory(path));
        if (flags.has('d') || !isDirectory) {
          await process.print(entry(process, name, path, flags));
          return;
        }
        directory = path;
      },
      { gnu: (path) => `cannot access '${path}'` },
    );
    const listed = directory;
    if (listed !== undefined) {
      if (paths.length > 1) await process.print(`${isFirst ? '' : '\n'}${name}:\n`);
      ok &&= await attempt(process, name, () => list(process, listed, flags), {
        busybox: (path) => `can't open '${path}'`,
        gnu: (path) => `cannot open directory '${path}'`,
      });
    }
    if (ok || listed !== undefined) isFirst = false;
    if (!ok) status = hasGnuTools(process) ? 2 : 1;
  }
  return status;
}

/** What is missing is complained of first, files come before directories, each by name. */
function inOrder(process: Process, names: readonly string[]): string[] {
  const { fs } = process;
  const rank = (name: string): number => {
    const path = absolute(process, name);
    if (!fs.exists(path)) return 0;
    return fs.isDirectory(path) ? 2 : 1;
  };
  return [...names].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

async function list(process: Process, path: string, flags: ReadonlySet<string>): Promise<void> {
  const own = process.fs
    .readdir(path)
    .filter((name) => flags.has('a') || flags.has('A') || !name.startsWith('.'));
  const names = flags.has('a') ? ['.', '..', ...own] : own;
  if (flags.has('l')) await process.print(`total ${names.length * 4}\n`);
  const columns = process.stdout.isTty && !flags.has('l') && !flags.has('1');
  if (columns) await process.print(names.length > 0 ? `${names.join('  ')}\n` : '');
  else await process.print(names.map((name) => entry(process, name, posix.join(path, name), flags)).join(''));
}

function entry(process: Process, name: string, path: string, flags: ReadonlySet<string>): string {
  if (!flags.has('l')) return `${name}\n`;
  const isFollowed = flags.has('L') && process.fs.exists(path);
  const info = isFollowed ? process.fs.stat(path) : process.fs.lstat(path);
  const user = passwdEntries(process.fs).find((e) => e.uid === info.uid)?.name ?? String(info.uid);
  const group = groupEntries(process.fs).find((e) => e.gid === info.gid)?.name ?? String(info.gid);
  const target = info.kind === 'link' ? ` -> ${process.fs.readlink(path)}` : '';
  const size = flags.has('h') ? humanSize(info.size) : String(info.size);
  return `${modeText(info)}    1 ${user.padEnd(8)} ${group.padEnd(8)} ${size.padStart(9)} ${dateText(info.mtime, process.clock.now())} ${name}${target}\n`;
}

const kinds = {
  file: '-',
  directory: 'd',
  link: 'l',
  device: 'c',
  block: 'b',
  fifo: 'p',
  socket: 's',
  other: '-',
} as const;

function modeText({ kind, mode }: FileInfo): string {
  const bits = [...'rwxrwxrwx'].map((letter, i) => ((mode >> (8 - i)) & 1 ? letter : '-'));
  // setuid, setgid and the sticky bit stand in the place of the x of their class.
  for (const [bit, at, letter] of [
    [0o4000, 2, 's'],
    [0o2000, 5, 's'],
    [0o1000, 8, 't'],
  ] as const)
    if (mode & bit) bits[at] = bits[at] === 'x' ? letter : letter.toUpperCase();
  return kinds[kind] + bits.join('');
}

function humanSize(size: number): string {
  let value = size;
  for (const unit of ['', 'K', 'M', 'G']) {
    if (value < 1024) return unit === '' ? String(value) : `${value.toFixed(1)}${unit}`;
    value /= 1024;
  }
  return `${value.toFixed(1)}T`;
}

const halfYearMs = 182 * 86_400_000;

function dateText(ms: number, now: number): string {
  const date = new Date(ms);
  const [, month = '', day = ''] =
    /^\w+ (\w+) (\d+)/.exec(date.toUTCString().replace(/^\w+, (\d+) (\w+)/, 'X $2 $1')) ?? [];
  const time =
    Math.abs(now - ms) < halfYearMs ? date.toISOString().slice(11, 16) : ` ${date.getUTCFullYear()}`;
  return `${month} ${String(Number(day)).padStart(2)} ${time}`;
}

import { FileError } from '../files/file-error';
import type { Process } from '../kernel/process';
import { absolute, attempt, parseArgs } from './paths';

/** `512`, `10K`, `1M`, `2G`; undefined: no size. */
export function parseSize(text: string | undefined): number | undefined {
  const match = /^(\d+)([kKmMgG]?)(?:i?[bB])?$/.exec(text ?? '');
  if (!match) return undefined;
  return Number(match[1]) * 1024 ** ('kmg'.indexOf((match[2] ?? '').toLowerCase() || ' ') + 1);
}

/** `truncate -s SIZE file…` */
export function truncate(process: Process): Promise<number> {
  return resize(process, 's', (size) => size);
}

/** `fallocate -l SIZE file` */
export function fallocate(process: Process): Promise<number> {
  return resize(process, 'l', Math.max);
}

async function resize(
  process: Process,
  option: string,
  wanted: (size: number, before: number) => number,
): Promise<number> {
  const { values, rest } = parseArgs(process.argv.slice(1), `${option}o`);
  const size = parseSize(values.get(option));
  if (size === undefined) {
    await process.complain(`${process.argv[0] ?? ''}: invalid number '${values.get(option) ?? ''}'\n`);
    return 1;
  }
  let status = 0;
  for (const name of rest) {
    const ok = await attempt(process, name, () => {
      const path = absolute(process, name);
      const before = process.fs.exists(path) ? process.fs.readFile(path) : Buffer.alloc(0);
      const length = wanted(size, before.length);
      if (length > mostBytes) throw new FileError('ENOSPC', path);
      const data = Buffer.alloc(length);
      before.copy(data);
      process.fs.writeFile(path, data, { user: process.user });
    });
    if (!ok) status = 1;
  }
  return status;
}

/** Files are held in memory, or written to the machine, as a whole. */
const mostBytes = 1024 ** 3;

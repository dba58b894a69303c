import { posix } from 'node:path';
import type { Process } from '../kernel/process';
import { parseArgs } from './paths';

/** `basename NAME [SUFFIX]`, `dirname NAME…`: commands that only calculate with their arguments. */

export async function basename(process: Process): Promise<number> {
  const { rest } = parseArgs(process.argv.slice(1));
  const [name = '', suffix = ''] = rest;
  const base = posix.basename(name) || '/';
  const cut =
    suffix !== '' && base !== suffix && base.endsWith(suffix) ? base.slice(0, -suffix.length) : base;
  await process.print(`${cut}\n`);
  return 0;
}

export async function dirname(process: Process): Promise<number> {
  const { rest } = parseArgs(process.argv.slice(1));
  await process.print(rest.map((name) => `${posix.dirname(name)}\n`).join(''));
  return 0;
}

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
  return resize(process, 's', false);
}

/** `fallocate -l SIZE file` */
export function fallocate(process: Process): Promise<number> {
  return resize(process, 'l', true);
}

async function resize(process: Process, option: string, allocates: boolean): Promise<number> {
  const { values, rest } = parseArgs(process.argv.slice(1), `${option}o`);
  const size = parseSize(values.get(option));
  if (size === undefined) {
    await process.complain(`${process.argv[0] ?? ''}: invalid number '${values.get(option) ?? ''}'\n`);
    return 1;
  }
  const { fs, user, signal } = process;
  let status = 0;
  for (const name of rest) {
    const work = () => fs.resize(absolute(process, name), size, { allocates, user, signal });
    if (!(await attempt(process, name, work))) status = 1;
  }
  return status;
}

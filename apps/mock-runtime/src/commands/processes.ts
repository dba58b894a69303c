import type { Process } from '../kernel/process';
import { ps } from './basics';
import { parseArgs } from './paths';

function others(process: Process): Process[] {
  return process.machine.table.list().filter((other) => other !== process);
}

/** `pgrep [-f] PATTERN`: ids, one a line; 1 when none matches. */
export async function pgrep(process: Process): Promise<number> {
  const { flags, rest } = parseArgs(process.argv.slice(1));
  const pattern = new RegExp(rest[0] ?? '');
  const found = others(process).filter((p) => pattern.test(flags.has('f') ? p.argv.join(' ') : p.comm));
  const { table } = process.machine;
  await process.print(found.map((p) => `${table.pidOf(p)}\n`).join(''));
  return found.length > 0 ? 0 : 1;
}

/** `pidof NAME…`: ids on one line; 1 when none matches. */
export async function pidof(process: Process): Promise<number> {
  const names = process.argv.slice(1);
  const found = others(process).filter((p) => names.includes(p.comm));
  if (found.length > 0)
    await process.print(`${found.map((p) => process.machine.table.pidOf(p)).join(' ')}\n`);
  return found.length > 0 ? 0 : 1;
}

/** `top [-b] [-n COUNT] [-d SECONDS]`: the process list again and again. */
export async function top(process: Process): Promise<number> {
  const { values } = parseArgs(process.argv.slice(1), 'nd');
  const count = Number(values.get('n') ?? Infinity);
  // top restores its terminal when it is ended, so it ends by signals also as a container's first process.
  const ended = process.untilSignal('SIGTERM', 'SIGINT');
  for (let shown = 0; shown < count; shown++) {
    if (shown > 0 && (await Promise.race([ended, process.sleep(Number(values.get('d') ?? 5) * 1000)]))) break;
    await ps(process);
  }
  return 0;
}

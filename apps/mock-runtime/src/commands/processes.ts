import type { Process } from '../kernel/process';
import { ps } from './basics';
import { hasGnuTools, parseArgs } from './paths';
import { parseSignal, type SignalName } from '../kernel/signals';

function others(process: Process): Process[] {
  return process.machine.table.list().filter((other) => other !== process);
}

/** `pgrep [-fno] PATTERN`: ids, one a line (`-n`: the newest, `-o`: the oldest); 1 when none matches. */
export async function pgrep(process: Process): Promise<number> {
  const { flags, rest } = parseArgs(process.argv.slice(1));
  const pattern = new RegExp(rest[0] ?? '');
  const all = others(process).filter((p) => pattern.test(flags.has('f') ? p.argv.join(' ') : p.comm));
  const found = flags.has('o') ? all.slice(0, 1) : flags.has('n') ? all.slice(-1) : all;
  const { table } = process.machine;
  await process.print(found.map((p) => `${table.pidOf(p)}\n`).join(''));
  return found.length > 0 ? 0 : 1;
}

/** `pkill [-SIGNAL] [-f] PATTERN` */
export async function pkill(process: Process): Promise<number> {
  const { signal, rest } = signalOf(process.argv.slice(1));
  const { flags, rest: patterns } = parseArgs(rest);
  const pattern = new RegExp(patterns[0] ?? '');
  return killEach(
    signal,
    others(process).filter((p) => pattern.test(flags.has('f') ? p.argv.join(' ') : p.comm)),
  );
}

/** `killall [-SIGNAL] [-q] NAME…`; `-0` only asks whether there are any. */
export async function killall(process: Process): Promise<number> {
  const { signal, rest } = signalOf(process.argv.slice(1));
  const { flags, rest: names } = parseArgs(rest);
  let status = 0;
  for (const name of names) {
    const found = others(process).filter((p) => p.comm === name);
    if (killEach(signal, found) === 0) continue;
    status = 1;
    const message = hasGnuTools(process)
      ? `${name}: no process found`
      : `killall: ${name}: no process killed`;
    if (!flags.has('q')) await process.complain(`${message}\n`);
  }
  return status;
}

/** `-9`, `-TERM`, `-s TERM` before everything else; undefined: `-0`. */
function signalOf(args: readonly string[]): { signal: SignalName | undefined; rest: readonly string[] } {
  const [first = '', second = ''] = args;
  if (first === '-0') return { signal: undefined, rest: args.slice(1) };
  if (first === '-s') return { signal: parseSignal(second), rest: args.slice(2) };
  const signal = first.startsWith('-') ? parseSignal(first.slice(1)) : undefined;
  return signal ? { signal, rest: args.slice(1) } : { signal: 'SIGTERM', rest: args };
}

function killEach(signal: SignalName | undefined, found: readonly Process[]): number {
  if (signal) for (const process of found) process.kill(signal);
  return found.length > 0 ? 0 : 1;
}

/** `pidof NAME…`: ids on one line; 1 when none matches. */
export async function pidof(process: Process): Promise<number> {
  const { flags, rest } = parseArgs(process.argv.slice(1), 'o');
  const all = others(process).filter((p) => rest.includes(p.comm));
  const found = flags.has('s') ? all.slice(0, 1) : all;
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

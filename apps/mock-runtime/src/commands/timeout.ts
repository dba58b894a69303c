import { aborted, withDeadline } from '@tinkernetes/component-base';
import { parseSignal, type SignalName } from '../kernel/signals';
import { ExecError, spawn } from '../kernel/spawn';
import type { Process } from '../kernel/process';
import { hasGnuTools } from './paths';

const seconds: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 };

interface Limits {
  signal: SignalName;
  /** SIGKILL so long after the signal. */
  killAfterMs: number | undefined;
  limitMs: number;
  argv: readonly string[];
}

/** `timeout [-s SIGNAL] [-k DURATION] DURATION COMMAND…`; old busybox wrote `-t DURATION`. */
export async function timeout(process: Process): Promise<number> {
  const limits = parse(process.argv.slice(1));
  if (!limits) {
    await process.complain('timeout: invalid time interval\n');
    return hasGnuTools(process) ? 125 : 1;
  }
  const { signal, killAfterMs, limitMs, argv } = limits;
  let child: Process;
  try {
    child = await spawn.start(process, argv);
  } catch (error) {
    if (!(error instanceof ExecError)) throw error;
    await process.complain(`timeout: can't execute '${argv[0] ?? ''}': No such file or directory\n`);
    return error.exitCode;
  }
  if (limitMs === 0) return child.exited;
  if (await endsWithin(process, child, limitMs)) return child.exited;
  child.kill(signal);
  if (killAfterMs !== undefined && !(await endsWithin(process, child, killAfterMs))) child.kill('SIGKILL');
  const code = await child.exited;
  if (signal === 'SIGKILL') return 137;
  return hasGnuTools(process) ? 124 : code;
}

function endsWithin({ clock }: Process, child: Process, ms: number): Promise<boolean> {
  return withDeadline(clock, ms, (late) =>
    Promise.race([child.exited.then(() => true), aborted(late).then(() => false)]),
  );
}

function parse(args: readonly string[]): Limits | undefined {
  const rest = [...args];
  let signal: SignalName | undefined = 'SIGTERM';
  let killAfterMs: number | undefined;
  let limitMs: number | undefined;
  while (rest[0]?.startsWith('-')) {
    const [option = '', attached] = splitOption(rest.shift() ?? '');
    if (option === '--') break;
    if (!['-s', '--signal', '-k', '--kill-after', '-t'].includes(option)) continue;
    const value = attached ?? rest.shift() ?? '';
    if (option === '-s' || option === '--signal') signal = parseSignal(value);
    else if (option === '-t') limitMs = durationOf(value);
    else killAfterMs = durationOf(value);
  }
  limitMs ??= durationOf(rest.shift());
  return signal === undefined || limitMs === undefined || rest.length === 0
    ? undefined
    : { signal, killAfterMs, limitMs, argv: rest };
}

function splitOption(option: string): [name: string, value?: string] {
  if (option.startsWith('--'))
    return option.includes('=') ? (option.split('=', 2) as [string, string]) : [option];
  return option.length > 2 ? [option.slice(0, 2), option.slice(2)] : [option];
}

/** Milliseconds of `5`, `0.5s`, `2m`. */
function durationOf(text: string | undefined): number | undefined {
  const match = /^(\d*\.?\d+)([smhd]?)$/.exec(text ?? '');
  return match ? Number(match[1]) * (seconds[match[2] ?? ''] ?? 1) * 1000 : undefined;
}

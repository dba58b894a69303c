import { cpus } from 'node:os';
import { groupEntries, passwdEntries } from '../containers/users';
import { ExecError, lookPath, spawn } from '../kernel/spawn';
import type { Process } from '../kernel/process';
import { parseArgs } from './paths';

/** Small commands about the process, its container and its user. */

export async function env(process: Process): Promise<number> {
  const args = process.argv.slice(1);
  let values: Record<string, string> = { ...process.env };
  while (args.length > 0) {
    const [arg = ''] = args;
    if (arg === '-i' || arg === '-') values = {};
    else if (arg === '-u')
      values = Object.fromEntries(Object.entries(values).filter(([key]) => key !== args[1]));
    else if (/^\w+=/.test(arg)) values[arg.slice(0, arg.indexOf('='))] = arg.slice(arg.indexOf('=') + 1);
    else break;
    args.splice(0, arg === '-u' ? 2 : 1);
  }
  // execvp finds commands without a PATH, and shells give themselves one.
  process.env = values;
  if (args.length > 0) return become(process, args);
  await process.print(
    Object.entries(values)
      .map(([key, value]) => `${key}=${value}\n`)
      .join(''),
  );
  return 0;
}

async function become(process: Process, argv: readonly string[]): Promise<number> {
  const [name = ''] = process.argv;
  try {
    return await spawn.become(process, argv);
  } catch (error) {
    if (!(error instanceof ExecError)) throw error;
    await process.complain(`${name}: can't execute '${argv[0]}': No such file or directory\n`);
    return error.exitCode;
  }
}

export async function printenv(process: Process): Promise<number> {
  const names = process.argv.slice(1);
  if (names.length === 0) return env(process);
  const found = names.map((name) => process.env[name]).filter((value) => value !== undefined);
  await process.print(found.map((value) => `${value}\n`).join(''));
  return found.length === names.length ? 0 : 1;
}

export async function id(process: Process): Promise<number> {
  const { flags } = parseArgs(process.argv.slice(1));
  const { uid, gid, groups } = process.user;
  const userName = passwdEntries(process.fs).find((e) => e.uid === uid)?.name;
  const known = groupEntries(process.fs);
  const groupName = (n: number) => known.find((g) => g.gid === n)?.name;
  const named = (n: number, name: string | undefined) => (name ? `${n}(${name})` : String(n));
  let text = `uid=${named(uid, userName)} gid=${named(gid, groupName(gid))} groups=${groups.map((g) => named(g, groupName(g))).join(',')}`;
  if (flags.has('u')) text = flags.has('n') ? (userName ?? String(uid)) : String(uid);
  else if (flags.has('g')) text = flags.has('n') ? (groupName(gid) ?? String(gid)) : String(gid);
  else if (flags.has('G'))
    text = groups.map((g) => (flags.has('n') ? (groupName(g) ?? String(g)) : String(g))).join(' ');
  await process.print(`${text}\n`);
  return 0;
}

export async function whoami(process: Process): Promise<number> {
  const name = passwdEntries(process.fs).find((e) => e.uid === process.user.uid)?.name;
  if (name === undefined) {
    await process.complain(`whoami: unknown uid ${process.user.uid}\n`);
    return 1;
  }
  await process.print(`${name}\n`);
  return 0;
}

export async function ps(process: Process): Promise<number> {
  const { table } = process.machine;
  const lines = table.list().map((p) => {
    // CPU time, which is counted by container: of its first process, that is.
    const seconds = p.pid === 1 ? Math.floor(p.machine.cpu.totalMs() / 1000) : 0;
    const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
    const user = passwdEntries(process.fs).find((e) => e.uid === p.user.uid)?.name ?? String(p.user.uid);
    return `${String(table.pidOf(p)).padStart(5)} ${user.padEnd(8)} ${time.padStart(5)} ${p.argv.join(' ')}\n`;
  });
  await process.print(`  PID USER      TIME COMMAND\n${lines.join('')}`);
  return 0;
}

export async function pwd(process: Process): Promise<number> {
  await process.print(`${process.cwd}\n`);
  return 0;
}

/** `seq [-s SEPARATOR] [-w] [-f FORMAT] [first [increment]] last`. */
export async function seq(process: Process): Promise<number> {
  const args = process.argv.slice(1);
  const operand = args.findIndex((arg, i) => /^-?[\d.]/.test(arg) && args[i - 1] !== '-s');
  const { values, flags } = parseArgs(operand < 0 ? args : args.slice(0, operand), 'sf');
  const numbers = (operand < 0 ? [] : args.slice(operand)).map(Number);
  if (numbers.length === 0 || numbers.some(Number.isNaN)) {
    await process.complain('seq: usage: seq [first [inc]] last\n');
    return 1;
  }
  const first = numbers.length > 1 ? (numbers[0] ?? 1) : 1;
  const step = numbers.length > 2 ? (numbers[1] ?? 1) : 1;
  const last = numbers.at(-1) ?? 1;
  if (step === 0) return 1;
  const width = flags.has('w') ? Math.max(String(first).length, String(last).length) : 0;
  const separator = values.get('s') ?? '\n';
  const digits = Math.max(...[first, step].map((n) => String(n).split('.')[1]?.length ?? 0));
  let batch: string[] = [];
  let started = false;
  const flush = async () => {
    if (batch.length > 0) await process.print((started ? separator : '') + batch.join(separator));
    started ||= batch.length > 0;
    batch = [];
  };
  // Counted in whole steps: sums of fractions would miss the end.
  const count = Math.floor((last - first) / step + 1e-9);
  for (let i = 0; i <= count; i++) {
    const text = (first + i * step).toFixed(digits).padStart(width, '0');
    batch.push(values.get('f')?.replace(/%[-0-9.]*[gfe]/, text) ?? text);
    if (batch.length >= 500) await flush();
  }
  await flush();
  if (started) await process.print('\n');
  return 0;
}

export async function uname(process: Process): Promise<number> {
  const { flags } = parseArgs(process.argv.slice(1));
  const all = flags.has('a');
  const parts = [
    ...(all || flags.has('s') || flags.size === 0 ? ['Linux'] : []),
    ...(all || flags.has('n') ? [process.machine.hostname] : []),
    ...(all || flags.has('r') ? ['6.1.0'] : []),
    ...(all || flags.has('v') ? ['#1 SMP'] : []),
    ...(all || flags.has('m') ? ['x86_64'] : []),
    ...(all ? ['GNU/Linux'] : []),
  ];
  await process.print(`${parts.join(' ')}\n`);
  return 0;
}

export async function which(process: Process): Promise<number> {
  let status = 0;
  for (const name of process.argv.slice(1)) {
    try {
      await process.print(
        `${lookPath(name, { fs: process.fs, cwd: process.cwd, path: process.env.PATH })}\n`,
      );
    } catch (error) {
      if (!(error instanceof ExecError)) throw error;
      status = 1;
    }
  }
  return status;
}

export async function yes(process: Process): Promise<number> {
  const text = `${process.argv.slice(1).join(' ') || 'y'}\n`.repeat(100);
  for (;;) {
    await process.print(text);
    await new Promise<void>((resolve) => setImmediate(resolve));
    process.signal.throwIfAborted();
  }
}

export async function tty(process: Process): Promise<number> {
  await process.print(process.stdin.isTty ? '/dev/pts/0\n' : 'not a tty\n');
  return process.stdin.isTty ? 0 : 1;
}

export async function nproc(process: Process): Promise<number> {
  await process.print(`${cpus().length}\n`);
  return 0;
}

import type { Process } from '../kernel/process';
import { parseSignal, signalNumbers, type SignalName } from '../kernel/signals';

/** `kill [-SIGNAL] pid…`; `job` resolves `%1` inside a shell. */
export async function kill(
  process: Process,
  argv: readonly string[] = process.argv,
  job: (spec: string) => number | undefined = () => undefined,
): Promise<number> {
  const args = argv.slice(1);
  let signal: SignalName = 'SIGTERM';
  let probe = false;
  if (args[0] === '-l' && args.length > 1) {
    const asked = parseSignal(args[1] ?? '');
    const text = asked && (/^\d/.test(args[1] ?? '') ? asked.slice(3) : String(signalNumbers[asked]));
    if (text) await process.print(`${text}\n`);
    return text ? 0 : 1;
  }
  if (args[0] === '-l') {
    await process.print(
      `${Object.keys(signalNumbers)
        .map((name) => name.slice(3))
        .join(' ')}\n`,
    );
    return 0;
  }
  if (args[0] === '-s') args.splice(0, 1, `-${args.splice(1, 1)[0] ?? ''}`);
  if (/^-\w+$/.test(args[0] ?? '')) {
    const name = (args.shift() ?? '').slice(1);
    probe = name === '0';
    const parsed = parseSignal(name);
    if (!parsed && !probe) {
      await process.complain(`kill: bad signal name '${name}'\n`);
      return 1;
    }
    signal = parsed ?? signal;
  }
  let status = 0;
  for (const text of args) {
    const pid = text.startsWith('%') ? job(text.slice(1)) : Number(text);
    const target = pid === undefined ? undefined : process.machine.table.get(pid);
    if (!target) {
      await process.complain(`kill: can't kill pid ${text}: No such process\n`);
      status = 1;
    } else if (!probe && !isImmune(pid, signal)) target.kill(signal);
  }
  return status;
}

/** The first process of a PID namespace can't be killed from inside. Source: pid_namespaces(7). */
function isImmune(pid: number | undefined, signal: SignalName): boolean {
  return pid === 1 && signal === 'SIGKILL';
}

import { parseDuration } from '@tinkernetes/component-base';
import type { Process } from '../../kernel/process';

const units: Readonly<Record<string, number>> = { '': 1, B: 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 };

/**
 * `stress --cpu N --vm N --vm-bytes SIZE --timeout T`, as the Kubernetes documentation uses it for requests and limits: the
 * cores and bytes are accounted for, not really used.
 */
export async function stress(process: Process): Promise<number> {
  const value = (...names: string[]): string | undefined => {
    const args = process.argv;
    const at = args.findIndex((arg) => names.includes(arg.split('=')[0] ?? ''));
    return at < 0 ? undefined : (args[at]?.split('=')[1] ?? args[at + 1]);
  };
  const cpu = Number(value('--cpu', '-c') ?? 0);
  const vm = Number(value('--vm', '-m') ?? 0);
  const io = Number(value('--io', '-i') ?? 0);
  const bytes = sizeOf(value('--vm-bytes') ?? '256M');
  const timeout = value('--timeout', '-t');
  await process.print(
    `stress: info: [${process.pid}] dispatching hogs: ${cpu} cpu, ${io} io, ${vm} vm, 0 hdd\n`,
  );
  const hogs = Array.from({ length: cpu + vm }, (_, index) => {
    const hog = process.fork();
    if (index < cpu) hog.machine.cpu.use(hog, 1);
    else hog.machine.memory.hold(hog, bytes);
    void hog.run(() => new Promise<number>(() => undefined));
    return hog;
  });
  const ended = process.untilSignal('SIGTERM', 'SIGINT');
  const ms =
    timeout === undefined
      ? undefined
      : /^\d+$/.test(timeout)
        ? Number(timeout) * 1000
        : parseDuration(timeout);
  await (ms === undefined ? ended : Promise.race([ended, process.sleep(ms)]));
  for (const hog of hogs) hog.kill('SIGKILL');
  await process.print(`stress: info: [${process.pid}] successful run completed\n`);
  return 0;
}

/** vish/stress `-cpus N -mem-total SIZE`: the one that the pages on CPU requests run. */
export async function vishStress(process: Process): Promise<number> {
  const value = (name: string): string | undefined => {
    const at = process.argv.findIndex((arg) => arg.replace(/^--?/, '') === name);
    return at < 0 ? undefined : process.argv[at + 1];
  };
  const cpus = Number(value('cpus') ?? 0);
  await process.complain(`Spawning a thread to consume CPU\n`.repeat(cpus));
  process.machine.cpu.use(process, cpus);
  process.machine.memory.hold(process, sizeOf((value('mem-total') ?? '0').replace(/i$/, '')));
  await process.untilSignal('SIGTERM', 'SIGINT');
  return 0;
}

function sizeOf(text: string): number {
  const [, number = '0', unit = ''] = /^(\d+)([BKMG]?)$/i.exec(text) ?? [];
  return Number(number) * (units[unit.toUpperCase()] ?? 1);
}

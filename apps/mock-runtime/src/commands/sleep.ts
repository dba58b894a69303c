import type { Process } from '../kernel/process';

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** `sleep 1.5`, `sleep 1m 30s`, `sleep infinity`. */
export async function sleep(process: Process): Promise<number> {
  const args = process.argv.slice(1);
  if (args.length === 0) {
    await process.complain('sleep: missing operand\n');
    return 1;
  }
  let seconds = 0;
  for (const arg of args) {
    const match = /^(\d*\.?\d+)([smhd]?)$/.exec(arg);
    if (!match && arg !== 'infinity' && arg !== 'inf') {
      await process.complain(`sleep: invalid number '${arg}'\n`);
      return 1;
    }
    seconds += match ? Number(match[1]) * (units[match[2] || 's'] ?? 1) : Infinity;
  }
  await pause(process, seconds * 1000);
  return 0;
}

/** `usleep MICROSECONDS` */
export async function usleep(process: Process): Promise<number> {
  await pause(process, Number(process.argv[1] ?? 0) / 1000);
  return 0;
}

/** Node's timers hold 24.8 days at most. */
const longest = 2 ** 31 - 1;

async function pause(process: Process, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= longest) await process.sleep(Math.min(left, longest));
}

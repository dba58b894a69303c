import type { Process } from '../kernel/process';
import { absolute, attempt, hasGnuTools, parseArgs } from './paths';

/** How often files of the machine are looked at again, as busybox does. */
const pollMs = 1000;

/** `tail [-n N] [-f|-F] [file…]`. */
export async function tail(process: Process): Promise<number> {
  const args = process.argv.slice(1).map((arg) => arg.replace(/^-(\d+)$/, '-n$1'));
  const { rest, flags, values } = parseArgs(args, 'nc');
  const count = values.get('n') ?? '10';
  if (rest.length === 0) {
    await process.print(lastLines(await process.stdin.readAll(process.signal), count));
    return 0;
  }
  const follow = flags.has('f') || flags.has('F') || flags.has('follow');
  const sizes = new Map<string, number>();
  let status = 0;
  for (const name of rest) {
    const path = absolute(process, name);
    const ok = await attempt(
      process,
      name,
      async () => {
        if (rest.length > 1) await process.print(`==> ${name} <==\n`);
        if (process.fs.node(path)?.kind === 'device') return;
        const data = process.fs.readFile(path);
        sizes.set(path, data.length);
        await process.print(lastLines(data, count));
      },
      { busybox: (path) => `can't open '${path}'`, gnu: (path) => `cannot open '${path}' for reading` },
    );
    if (!ok) status = 1;
  }
  if (status !== 0 && sizes.size === 0 && !hasGnuTools(process)) await process.complain('tail: no files\n');
  if (!follow || (status !== 0 && sizes.size === 0 && !flags.has('F'))) return status;
  for (;;) {
    await changed(process, [...sizes.keys()]);
    for (const [path, size] of sizes) {
      if (!process.fs.exists(path)) continue;
      const data = process.fs.readFile(path);
      if (data.length !== size) await process.print(data.subarray(data.length < size ? 0 : size));
      sizes.set(path, data.length);
    }
  }
}

function lastLines(data: Buffer, count: string): Buffer {
  const lines = data.toString('latin1').split(/(?<=\n)/);
  const kept = count.startsWith('+')
    ? lines.slice(Number(count) - 1)
    : Number(count) === 0
      ? []
      : lines.slice(-Number(count));
  return Buffer.from(kept.join(''), 'latin1');
}

/** A file of the container tells at once; one of a mount is looked at every second. */
async function changed(process: Process, paths: readonly string[]): Promise<void> {
  let stop: (() => void)[] = [];
  const written = new Promise<void>((resolve) => {
    stop = paths.map((path) => process.fs.watch(path, resolve));
  });
  try {
    await Promise.race([written, process.sleep(pollMs)]);
  } finally {
    for (const end of stop) end();
  }
}

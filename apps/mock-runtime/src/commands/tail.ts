import type { Process } from '../kernel/process';
import { absolute, attempt, hasGnuTools, parseArgs, withoutBareCounts } from './paths';

/** How often files of the machine are looked at again, as busybox does. */
const pollMs = 1000;

/** `tail [-n N | -c N] [-f|-F] [file…]`, from the Nth on with `+N`. */
export async function tail(process: Process): Promise<number> {
  const args = withoutBareCounts(process.argv.slice(1));
  const { rest, flags, values } = parseArgs(args, 'nc');
  const bytes = values.get('c');
  const end = (data: Buffer) =>
    bytes === undefined
      ? lastLines(data, values.get('n') ?? '10')
      : data.subarray(startOf(data.length, bytes));
  if (rest.length === 0) {
    await process.print(end(await process.stdin.readAll(process.signal)));
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
        await process.print(end(data));
      },
      { busybox: (path) => `can't open '${path}'`, gnu: (path) => `cannot open '${path}' for reading` },
    );
    if (ok) continue;
    status = 1;
    if (flags.has('F')) sizes.set(path, missing);
  }
  if (status !== 0 && sizes.size === 0 && !hasGnuTools(process)) await process.complain('tail: no files\n');
  if (!follow || (status !== 0 && sizes.size === 0)) return status;
  for (;;) {
    await changed(process, [...sizes.keys()]);
    for (const [path, size] of sizes)
      sizes.set(path, await showNew(process, path, { size, retries: flags.has('F') }));
  }
}

/** Of a file that `-F` waits for. */
const missing = -1;

/** What was written since; how long the file is now. */
async function showNew(
  process: Process,
  path: string,
  { size, retries }: { size: number; retries: boolean },
): Promise<number> {
  if (!process.fs.exists(path)) {
    if (retries && size !== missing)
      await process.complain(
        hasGnuTools(process)
          ? `tail: '${path}' has become inaccessible: No such file or directory\n`
          : `tail: ${path} has become inaccessible: No such file or directory\n`,
      );
    return retries ? missing : size;
  }
  if (size === missing)
    await process.complain(
      hasGnuTools(process)
        ? `tail: '${path}' has appeared;  following new file\n`
        : `tail: ${path} has appeared; following end of new file\n`,
    );
  const data = process.fs.readFile(path);
  const from = size === missing || data.length < size ? 0 : size;
  if (data.length !== size) await process.print(data.subarray(from));
  return data.length;
}

function lastLines(data: Buffer, count: string): Buffer {
  const lines = data.toString('latin1').split(/(?<=\n)/);
  return Buffer.from(lines.slice(startOf(lines.length, count)).join(''), 'latin1');
}

/** Where the last `count` of `length` begin (`-N` says the same), or the Nth with `+N`. */
function startOf(length: number, count: string): number {
  const number = Math.abs(Number(count));
  return Math.max(0, count.startsWith('+') ? number - 1 : length - number);
}

/** A file of the container tells at once; one of a mount is looked at every second. */
async function changed(process: Process, paths: readonly string[]): Promise<void> {
  let stop: (() => void)[] = [];
  const written = new Promise<void>((resolve) => {
    stop = paths.filter((path) => process.fs.exists(path)).map((path) => process.fs.watch(path, resolve));
  });
  try {
    await Promise.race([written, process.sleep(pollMs)]);
  } finally {
    for (const end of stop) end();
  }
}

import { openPath } from '../files/open-path';
import type { OpenFile } from '../kernel/open-file';
import type { Process } from '../kernel/process';
import { absolute, attempt, parseArgs } from './paths';

/** `cat [-n] [file…]`, streaming. */
export async function cat(process: Process): Promise<number> {
  const { rest, flags } = parseArgs(process.argv.slice(1));
  let status = 0;
  let line = 0;
  for (const name of rest.length > 0 ? rest : ['-']) {
    const ok = await attempt(
      process,
      name,
      async () => {
        const file = name === '-' ? process.stdin : openPath(process, absolute(process, name), 'read');
        if (flags.has('n')) {
          for (
            let text = await file.readLine(process.signal);
            text;
            text = await file.readLine(process.signal)
          )
            await process.print(`${String(++line).padStart(6)}\t${text.toString()}`);
        } else await copy(process, file);
      },
      { busybox: (path) => `can't open '${path}'` },
    );
    if (!ok) status = 1;
  }
  return status;
}

async function copy(process: Process, file: OpenFile): Promise<void> {
  for (let data = await file.read(process.signal); data; data = await file.read(process.signal))
    await process.print(data);
}

/** `tee [-a] file…` */
export async function tee(process: Process): Promise<number> {
  const { rest, flags } = parseArgs(process.argv.slice(1));
  const files = rest.map((name) =>
    openPath(process, absolute(process, name), flags.has('a') ? 'append' : 'write'),
  );
  for (
    let data = await process.stdin.read(process.signal);
    data;
    data = await process.stdin.read(process.signal)
  ) {
    await process.print(data);
    for (const file of files) await file.write(data);
  }
  return 0;
}

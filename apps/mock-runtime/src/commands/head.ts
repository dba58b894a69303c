import { openPath } from '../files/open-path';
import type { Process } from '../kernel/process';
import { absolute, attempt, parseArgs, withoutBareCounts } from './paths';

/** `head [-n N | -N | -c N] [file…]`, all but the last N with `-n -N`: ends as soon as it has enough, so that what feeds it ends too. */
export async function head(process: Process): Promise<number> {
  const args = withoutBareCounts(process.argv.slice(1));
  const { rest, values } = parseArgs(args, 'nc');
  const lines = Number(values.get('n') ?? 10);
  const bytes = values.has('c') ? Number(values.get('c')) : undefined;
  let status = 0;
  for (const name of rest.length > 0 ? rest : ['-']) {
    const ok = await attempt(
      process,
      name,
      async () => {
        const file = name === '-' ? process.stdin : openPath(process, absolute(process, name), 'read');
        if (rest.length > 1) await process.print(`==> ${name} <==\n`);
        if (bytes !== undefined) {
          for (let left = bytes; left > 0;) {
            const data = await file.read(process.signal);
            if (!data) break;
            await process.print(data.subarray(0, left));
            left -= data.length;
          }
          return;
        }
        if (lines < 0) {
          const all: Buffer[] = [];
          for (
            let line = await file.readLine(process.signal);
            line;
            line = await file.readLine(process.signal)
          ) {
            all.push(line);
            const [first] = all.length > -lines ? all.splice(0, 1) : [];
            if (first) await process.print(first);
          }
          return;
        }
        for (let count = 0; count < lines; count++) {
          const line = await file.readLine(process.signal);
          if (!line) break;
          await process.print(line);
        }
      },
      { gnu: (path) => `cannot open '${path}' for reading` },
    );
    if (!ok) status = 1;
  }
  return status;
}

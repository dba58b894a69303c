import { openPath } from '../files/open-path';
import type { Process } from '../kernel/process';
import { absolute, attempt, type Failing } from './paths';

/** Files that a filter reads: `-`, or none at all, is its standard input. */
export interface Input {
  name: string;
  data: Buffer;
}

/** All of them that can be read; `failed` when one can't, of which the command has complained. */
export async function readInputs(
  process: Process,
  names: readonly string[],
  failing: Failing = {
    busybox: (path) => `can't open '${path}'`,
    gnu: (path) => path,
  },
): Promise<{ inputs: Input[]; failed: boolean }> {
  const inputs: Input[] = [];
  let failed = false;
  for (const name of names.length > 0 ? names : ['-']) {
    const ok = await attempt(
      process,
      name,
      async () => {
        const file = name === '-' ? process.stdin : openPath(process, absolute(process, name), 'read');
        inputs.push({ name, data: await file.readAll(process.signal) });
        if (name !== '-') file.release();
      },
      failing,
    );
    failed ||= !ok;
  }
  return { inputs, failed };
}

/** Without their ends; bytes as Latin-1, so that nothing is lost and the order is that of the bytes (LC_ALL=C). */
export function linesOf(data: Buffer, separator = '\n'): string[] {
  const text = data.toString('latin1');
  if (text === '') return [];
  return (text.endsWith(separator) ? text.slice(0, -1) : text).split(separator);
}

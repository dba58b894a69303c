import { openPath } from '../files/open-path';
import type { OpenFile } from '../kernel/open-file';
import type { Process } from '../kernel/process';
import { absolute, attempt, type Failing } from './paths';

/** Files that a filter reads: `-`, or none at all, is its standard input. */
export interface Input {
  name: string;
  data: Buffer;
}

const cannotRead: Failing = {
  busybox: (path) => `can't open '${path}'`,
  gnu: (path) => path,
};

/** All of them that can be read; `failed` when one can't, of which the command has complained. */
export async function readInputs(
  process: Process,
  names: readonly string[],
  failing: Failing = cannotRead,
): Promise<{ inputs: Input[]; failed: boolean }> {
  const inputs: Input[] = [];
  const read = async (name: string, file: OpenFile) => {
    inputs.push({ name, data: await file.readAll(process.signal) });
  };
  const failed = !(await openInputs(process, names, { read, failing }));
  return { inputs, failed };
}

interface Reading {
  read(name: string, file: OpenFile): Promise<void>;
  failing?: Failing;
}

/** Opens one after the other; false when one can't be read, of which the command has complained. */
export async function openInputs(
  process: Process,
  names: readonly string[],
  { read, failing = cannotRead }: Reading,
): Promise<boolean> {
  let isWell = true;
  for (const name of names.length > 0 ? names : ['-']) {
    const ok = await attempt(
      process,
      name,
      async () => {
        if (name === '-') return read(name, process.stdin);
        const file = openPath(process, absolute(process, name), 'read');
        try {
          await read(name, file);
        } finally {
          file.release();
        }
      },
      failing,
    );
    isWell &&= ok;
  }
  return isWell;
}

/** Without their ends; bytes as Latin-1, so that nothing is lost and the order is that of the bytes (LC_ALL=C). */
export function linesOf(data: Buffer, separator = '\n'): string[] {
  const text = data.toString('latin1');
  if (text === '') return [];
  return (text.endsWith(separator) ? text.slice(0, -1) : text).split(separator);
}

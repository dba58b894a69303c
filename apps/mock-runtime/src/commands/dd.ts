import { FileError } from '../files/file-error';
import { openPath } from '../files/open-path';
import type { OpenFile } from '../kernel/open-file';
import type { Process } from '../kernel/process';
import { absolute } from './paths';

const units: Readonly<Record<string, number>> = {
  c: 1,
  k: 1024,
  K: 1024,
  M: 1024 ** 2,
  G: 1024 ** 3,
  kB: 1000,
  MB: 1e6,
  GB: 1e9,
};

/** `dd if=FILE of=FILE bs=N count=N [skip=N]`; its block is memory that it holds. */
export async function dd(process: Process): Promise<number> {
  const operands = new Map(process.argv.slice(1).map((arg) => arg.split('=', 2) as [string, string]));
  const blockSize = sizeOf(operands.get('bs')) ?? 512;
  const count = sizeOf(operands.get('count')) ?? Infinity;
  const { memory } = process.machine;
  memory.hold(process, blockSize);
  let input: OpenFile;
  let output: OpenFile;
  try {
    input = open(process, operands.get('if'), 'read') ?? process.stdin.retain();
    output = open(process, operands.get('of'), 'write') ?? process.stdout.retain();
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    await process.complain(`dd: can't open '${error.path}': ${error.message}\n`);
    return 1;
  }
  for (let skip = sizeOf(operands.get('skip')) ?? 0; skip > 0; skip--)
    if (!(await readBlock(process, input, blockSize))) break;
  let full = 0;
  let partial = 0;
  while (full + partial < count) {
    const block = await readBlock(process, input, blockSize);
    if (!block) break;
    await output.write(block);
    if (block.length === blockSize) full += 1;
    else partial += 1;
    if ((full & 15) === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    process.signal.throwIfAborted();
  }
  input.release();
  output.release();
  if (operands.get('status') !== 'none') {
    const records = `${full}+${partial} records`;
    await process.complain(`${records} in\n${records} out\n`);
  }
  return 0;
}

function open(process: Process, path: string | undefined, mode: 'read' | 'write'): OpenFile | undefined {
  return path === undefined ? undefined : openPath(process, absolute(process, path), mode);
}

async function readBlock(process: Process, input: OpenFile, size: number): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let length = 0;
  while (length < size) {
    const chunk = await input.read(process.signal);
    if (!chunk) break;
    const wanted = chunk.subarray(0, size - length);
    input.unread(chunk.subarray(wanted.length));
    parts.push(wanted);
    length += wanted.length;
    // A block of a gigabyte from /dev/zero is read in many steps: let others run in between.
    if (parts.length % 64 === 0) await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return length > 0 ? Buffer.concat(parts) : undefined;
}

/** `512`, `20M`, `1kB`. */
function sizeOf(text: string | undefined): number | undefined {
  const match = /^(\d+)([a-zA-Z]*)$/.exec(text ?? '');
  return match ? Number(match[1]) * (units[match[2] ?? ''] ?? 1) : undefined;
}

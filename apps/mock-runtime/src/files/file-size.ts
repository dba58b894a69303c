import { closeSync, constants, fstatSync, ftruncate, openSync, write } from 'node:fs';
import { promisify } from 'node:util';
import { asFileError, FileError } from './file-error';
import { onHost } from './file-info';
import type { HostPlace } from './mounts';

export interface ResizeOptions {
  /** The file takes its room on the disk and never gets shorter, as fallocate has it; otherwise it grows by a hole. */
  allocates: boolean;
  signal: AbortSignal;
}

/** What one file takes of the machine's disk, or of its memory, at most. */
export const mostBytes = 1024 ** 3;

const flags = constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const zeros = 1024 ** 2;
const toLength = promisify(ftruncate);
const put = promisify(write);

/** Makes a file of the machine so long, while other containers go on. */
export async function resizeOnHost(
  { hostPath, path }: HostPlace,
  size: number,
  options: ResizeOptions,
): Promise<void> {
  // Opened at once: nobody can put a link in its place meanwhile.
  const file = onHost(path, () => openSync(hostPath, flags));
  try {
    if (options.allocates) await allocate(file, size, { path, signal: options.signal });
    else if (Number.isSafeInteger(size)) await toLength(file, size);
    else throw new FileError('EFBIG', path);
  } catch (error) {
    throw asFileError(error, path);
  } finally {
    closeSync(file);
  }
}

/** What a volume holds is counted by its blocks on the disk, so they have to be written. */
async function allocate(
  file: number,
  size: number,
  { path, signal }: { path: string; signal: AbortSignal },
): Promise<void> {
  let end = fstatSync(file).size;
  if (size - end > mostBytes) throw new FileError('ENOSPC', path);
  const chunk = Buffer.alloc(Math.max(0, Math.min(zeros, size - end)));
  while (end < size) {
    signal.throwIfAborted();
    const { bytesWritten } = await put(file, chunk, 0, Math.min(chunk.length, size - end), end);
    end += bytesWritten;
  }
}

import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { OpenFile } from '../kernel/open-file';
import { FileError } from './file-error';
import { onHost } from './file-info';

const chunkSize = 65_536;

export interface BlockDevice {
  hostPath: string;
  readonly: boolean;
}

/** A disk's bytes from the first on: it is never cut off, and what is past its end finds no space. */
export function openBlockDevice(
  { hostPath, readonly }: BlockDevice,
  path: string,
  mode: 'read' | 'write' | 'append',
): OpenFile {
  if (mode !== 'read' && readonly) throw new FileError('EPERM', path);
  const file = onHost(path, () => openSync(hostPath, readonly ? 'r' : 'r+'));
  const size = fstatSync(file).size;
  let offset = 0;
  return new OpenFile({
    path,
    read: async () => {
      const chunk = Buffer.alloc(Math.min(chunkSize, size - offset));
      const length = chunk.length > 0 ? onHost(path, () => readSync(file, chunk, { position: offset })) : 0;
      offset += length;
      return length > 0 ? chunk.subarray(0, length) : undefined;
    },
    write: (data) => {
      const room = size - offset;
      const fitting = data.subarray(0, room);
      onHost(path, () => writeSync(file, fitting, 0, fitting.length, offset));
      offset += fitting.length;
      if (data.length > room) throw new FileError('ENOSPC', path);
    },
    close: () => closeSync(file),
  });
}

import { randomFillSync } from 'node:crypto';
import { OpenFile, nullFile } from '../kernel/open-file';
import type { Process } from '../kernel/process';
import { openBlockDevice } from './block-device';
import { FileError } from './file-error';
import type { DeviceNode } from './nodes';
import { access } from './permissions';

/** `readwrite`: `<>`, which but for pipes is what `append` is. */
export type OpenMode = 'read' | 'write' | 'append' | 'readwrite';

/** How much of a file one read gives. */
const chunkSize = 65_536;

/** Opens a path of the container. `files`: the descriptors that /dev/stdin and its like mean. */
export function openPath(
  process: Process,
  shown: string,
  mode: OpenMode,
  files: ReadonlyMap<number, OpenFile> = process.files,
): OpenFile {
  const { fs } = process;
  const path = shown.replace(/^\/proc\/self(?=\/|$)/, `/proc/${process.pid}`);
  const descriptor = /^\/(?:dev|proc\/\d+)\/fd\/(\d+)$/.exec(path);
  if (descriptor) return existing(files, Number(descriptor[1]), path);
  const node = fs.exists(path) ? fs.node(path) : undefined;
  if (node?.kind === 'device') return openDevice(process, node.device, path, files);
  const fifo = fs.exists(path) ? fs.fifo(path, mode === 'read' ? access.read : access.write) : undefined;
  if (fifo) return new OpenFile(fifo.open(mode, path));
  if (mode === 'readwrite') return openPath(process, path, 'append', files);
  const disk = fs.blockDevice(path);
  if (disk) return openBlockDevice(disk, path, mode);
  if (mode === 'read') {
    if (!fs.exists(path)) throw new FileError('ENOENT', path);
    const data = fs.readFile(path);
    let offset = 0;
    return new OpenFile({
      path,
      read: async () => {
        const chunk = data.subarray(offset, offset + chunkSize);
        offset += chunk.length;
        return chunk.length > 0 ? chunk : undefined;
      },
      write: (bytes) => fs.writeFile(path, bytes, { append: true }),
    });
  }
  const user = process.user;
  const made = { user, mode: 0o666 & ~process.umask };
  if (mode === 'write') fs.writeFile(path, Buffer.alloc(0), made);
  else if (!fs.exists(path)) fs.writeFile(path, Buffer.alloc(0), made);
  return new OpenFile({ path, write: (bytes) => fs.writeFile(path, bytes, { append: true, user }) });
}

function openDevice(
  process: Process,
  device: DeviceNode['device'],
  path: string,
  files: ReadonlyMap<number, OpenFile>,
): OpenFile {
  switch (device) {
    case 'null':
      return new OpenFile(nullFile);
    case 'zero':
      return new OpenFile({ path, read: async () => Buffer.alloc(chunkSize), write: () => undefined });
    case 'random':
      return new OpenFile({
        path,
        read: async () => randomFillSync(Buffer.alloc(chunkSize)),
        write: () => undefined,
      });
    case 'full':
      return new OpenFile({
        path,
        read: async () => Buffer.alloc(chunkSize),
        write: () => {
          throw new FileError('ENOSPC', path);
        },
      });
    case 'stdin':
      return existing(files, 0, path);
    case 'stdout':
      return existing(files, 1, path);
    case 'stderr':
      return existing(files, 2, path);
    case 'tty': {
      if (!process.tty) throw new FileError('ENOENT', path);
      return new OpenFile(process.tty.io);
    }
  }
}

function existing(files: ReadonlyMap<number, OpenFile>, descriptor: number, path: string): OpenFile {
  const file = files.get(descriptor);
  if (!file) throw new FileError('ENOENT', path);
  return file.retain();
}

import { lstatSync, type Stats } from 'node:fs';
import { asFileError, FileError } from './file-error';
import { contentOf } from './nodes';
import type { Place } from './mounts';

export interface FileInfo {
  kind: 'file' | 'directory' | 'link' | 'device' | 'block' | 'fifo' | 'socket' | 'other';
  mode: number;
  uid: number;
  gid: number;
  size: number;
  mtime: number;
}

export function infoOf(at: Place): FileInfo {
  if (at.kind === 'host') {
    const info = infoOfHost(onHost(at.path, () => lstatSync(at.hostPath)));
    return at.mount.isDevice ? { ...info, kind: 'block', mode: 0o660, uid: 0, gid: 6, size: 0 } : info;
  }
  const { node } = at;
  if (!node) throw new FileError('ENOENT', at.path);
  const size =
    node.kind === 'file'
      ? contentOf(node).length
      : node.kind === 'link'
        ? node.target.length
        : node.kind === 'fifo'
          ? 0
          : 4096;
  return { kind: node.kind, mode: node.mode, uid: node.uid, gid: node.gid, size, mtime: node.mtime };
}

function infoOfHost(stats: Stats): FileInfo {
  const kind = stats.isFile()
    ? 'file'
    : stats.isDirectory()
      ? 'directory'
      : stats.isSymbolicLink()
        ? 'link'
        : specialKind(stats);
  const { mode, uid, gid, size, mtimeMs } = stats;
  return { kind, mode: mode & 0o7777, uid, gid, size, mtime: mtimeMs };
}

function specialKind(stats: Stats): FileInfo['kind'] {
  if (stats.isFIFO()) return 'fifo';
  if (stats.isSocket()) return 'socket';
  if (stats.isCharacterDevice()) return 'device';
  return stats.isBlockDevice() ? 'block' : 'other';
}

/** Undefined: there is nothing. */
export function kindOf(place: Place): FileInfo['kind'] | undefined {
  try {
    return infoOf(place).kind;
  } catch (error) {
    if (error instanceof FileError) return undefined;
    throw error;
  }
}

/** Errors of the machine's file system as the container's, with the path that the container knows. */
export function onHost<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asFileError(error, path);
  }
}

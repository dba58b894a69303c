import { lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { errorCode } from '../error-code';
import type { BlockDevice } from './block-device';
import { FileError } from './file-error';
import { infoOf, onHost, type FileInfo } from './file-info';
import { fifoOnDisk, type Fifo } from './fifo';
import type { HostPlace } from './mounts';
import { contentOf, type FsNode } from './nodes';
import { PathLookup } from './path-lookup';
import { access } from './permissions';
import { linkTarget } from './walk';

const executableBits = 0o111;
/** Of a disk that a command wants as a whole. */
const mostAtOnce = 256 * 1024 ** 2;

/** What a container reads of its files. */
export class ReadableFiles extends PathLookup {
  protected readonly watchers = new Map<string, Set<() => void>>();

  stat(path: string): FileInfo {
    return infoOf(this.existing(path, true));
  }

  lstat(path: string): FileInfo {
    return infoOf(this.existing(path, false));
  }

  exists(path: string): boolean {
    try {
      const at = this.locate(path, true);
      if (at.kind === 'memory') return at.node !== undefined;
      lstatSync(at.hostPath);
      return true;
    } catch (error) {
      if (errorCode(error) !== undefined) return false;
      throw error;
    }
  }

  existsAsLink(path: string): boolean {
    return linkTarget(this.locate(path, false)) !== undefined;
  }

  isDirectory(path: string): boolean {
    return this.exists(path) && this.stat(path).kind === 'directory';
  }

  isExecutable(path: string): boolean {
    if (!this.exists(path)) return false;
    const { kind, mode } = this.stat(path);
    return kind === 'file' && (mode & executableBits) !== 0;
  }

  /** The path without links, `.` and `..`. */
  realpath(path: string): string {
    return this.locate(path, true).path;
  }

  /** The node of the container's own tree, for what only the runtime needs (programs, devices). */
  node(path: string): FsNode | undefined {
    const at = this.locate(path, true);
    return at.kind === 'memory' ? at.node : undefined;
  }

  /** The block device at the path, to be opened instead of read as a whole. */
  blockDevice(path: string): BlockDevice | undefined {
    const at = this.locate(path, true);
    return at.kind === 'host' && at.mount.isDevice
      ? { hostPath: at.hostPath, readonly: at.mount.readonly }
      : undefined;
  }

  /** The named pipe at the path, to be opened instead of read as a whole. */
  fifo(path: string, wanted: number): Fifo | undefined {
    const at = this.locate(path, true);
    if (at.kind === 'memory') {
      if (at.node?.kind !== 'fifo') return undefined;
      this.must(wanted, at.node, path);
      return at.node.fifo;
    }
    const stats = onHost(path, () => statSync(at.hostPath, { throwIfNoEntry: false }));
    return stats?.isFIFO() ? fifoOnDisk(stats) : undefined;
  }

  readFile(path: string): Buffer {
    const at = this.existing(path, true);
    if (at.kind === 'host' && at.mount.isDevice && diskSize(at) > mostAtOnce)
      throw new FileError('ENOMEM', path);
    if (at.kind === 'host') {
      if (!at.mount.isDevice) mustNotBlock(at);
      return onHost(path, () => readFileSync(at.hostPath));
    }
    if (at.node.kind === 'directory') throw new FileError('EISDIR', path);
    this.must(access.read, at.node, path);
    return at.node.kind === 'file' ? contentOf(at.node) : Buffer.alloc(0);
  }

  readdir(path: string): string[] {
    const at = this.existing(path, true);
    const mounted = this.mounts.namesIn(at.path);
    if (at.kind === 'host')
      return unique(
        onHost(path, () => readdirSync(at.hostPath)),
        mounted,
      );
    if (at.node.kind !== 'directory') throw new FileError('ENOTDIR', path);
    this.must(access.read, at.node, path);
    return unique([...at.node.children.keys()], mounted);
  }

  readlink(path: string): string {
    const at = this.existing(path, false);
    if (at.kind === 'host') return onHost(path, () => readlinkSync(at.hostPath));
    if (at.node.kind !== 'link') throw new FileError('EINVAL', path);
    return at.node.target;
  }

  /** Calls back when the container changes the file; changes on the machine's side are not seen. */
  watch(path: string, listener: () => void): () => void {
    const key = this.realpath(path);
    const listeners = this.watchers.get(key) ?? new Set();
    this.watchers.set(key, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.watchers.delete(key);
    };
  }
}

/** A device or pipe of the machine, which a container may not open, and which could stop the runtime. */
export function mustNotBlock({ hostPath, path }: HostPlace): void {
  const stats = onHost(path, () => statSync(hostPath));
  if (stats.isFIFO() || stats.isCharacterDevice() || stats.isBlockDevice())
    throw new FileError('EPERM', path);
}

const diskSize = ({ path, hostPath }: HostPlace): number => onHost(path, () => statSync(hostPath).size);

const unique = (a: readonly string[], b: readonly string[]): string[] => [...new Set([...a, ...b])].sort();

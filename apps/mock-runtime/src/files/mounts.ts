import { lstatSync, realpathSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import { errorCode } from '../error-code';
import { nodeAt, type FsNode } from './nodes';

/** A directory or file of the machine, or an image's, seen in the container. */
export interface Mount {
  containerPath: string;
  hostPath: string;
  readonly: boolean;
  /** Read-only with what is mounted below it; otherwise file systems mounted there can be written. */
  recursiveReadOnly?: boolean;
  /** A block device: what is there has its size for good, and no path below it. */
  isDevice?: boolean;
  /** What is there instead of something of the machine. */
  tree?: FsNode;
}

export interface HostPlace {
  kind: 'host';
  /** In the container. */
  path: string;
  hostPath: string;
  mount: Mount;
}

/** In the container's own tree, or in an image that is mounted, which nobody can change. */
export interface MemoryPlace {
  kind: 'memory';
  path: string;
  node: FsNode | undefined;
  readonly?: true;
}

export type Place = MemoryPlace | HostPlace;

/** What is mounted into a container, and what of the machine a path means. */
export class Mounts {
  /** The longest path first: what is mounted inside another mount hides it. */
  private readonly list: readonly Mount[];

  constructor(mounts: readonly Mount[]) {
    this.list = mounts
      .map((m) => ({
        ...m,
        hostPath: m.tree ? '' : followed(m.hostPath),
        containerPath: posix.normalize(m.containerPath).replace(/(.)\/$/, '$1'),
      }))
      .sort((a, b) => b.containerPath.length - a.containerPath.length);
  }

  all(): readonly Mount[] {
    return this.list;
  }

  find(path: string): Place | undefined {
    for (const mount of this.list) {
      const { containerPath, tree } = mount;
      if (!path.startsWith(containerPath)) continue;
      if (path.length !== containerPath.length && path[containerPath.length] !== '/') continue;
      const below = path.slice(containerPath.length);
      return tree
        ? { kind: 'memory', path, node: nodeAt(tree, below), readonly: true }
        : { kind: 'host', path, hostPath: mount.hostPath + below, mount };
    }
    return undefined;
  }

  isMountPoint(path: string): boolean {
    return this.list.some((m) => m.containerPath === path);
  }

  /** Mount points that lie directly in a directory. */
  namesIn(path: string): string[] {
    const prefix = path === '/' ? '/' : `${path}/`;
    return this.list
      .filter(
        (m) => m.containerPath.startsWith(prefix) && !m.containerPath.slice(prefix.length).includes('/'),
      )
      .map((m) => m.containerPath.slice(prefix.length));
  }
}

/** What is mounted is what a link points to when the container is made, as real runtimes do it. */
function followed(hostPath: string): string {
  try {
    return realpathSync(hostPath);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    return hostPath;
  }
}

export function isWritable({ mount, hostPath }: HostPlace): boolean {
  if (!mount.readonly) return true;
  if (mount.recursiveReadOnly) return false;
  return deviceOf(hostPath) !== deviceOf(mount.hostPath);
}

/** Of the file, or of the directory that it would be made in. */
function deviceOf(path: string): number {
  try {
    return lstatSync(path).dev;
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' || path === dirname(path)) throw error;
    return deviceOf(dirname(path));
  }
}

export function isHostFile(path: string): boolean {
  try {
    return lstatSync(path).isFile();
  } catch (error) {
    if (errorCode(error) !== undefined) return false;
    throw error;
  }
}

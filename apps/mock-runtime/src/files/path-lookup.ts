import { posix } from 'node:path';
import type { Clock } from '@tinkernetes/component-base';
import type { User } from '../kernel/process';
import { FileError } from './file-error';
import { kindOf } from './file-info';
import { Layer } from './layer';
import { isHostFile, isWritable, Mounts, type MemoryPlace, type Mount, type Place } from './mounts';
import { device, directory, type DirectoryNode, type FsNode } from './nodes';
import { access, mayAccess, mustRemove } from './permissions';
import { walk } from './walk';

export interface FileSystemOptions {
  mounts?: readonly Mount[];
  readonlyRoot?: boolean;
  /** Paths that show nothing: an empty directory, or a file like /dev/null. */
  maskedPaths?: readonly string[];
  /** Paths that can't be written, with all below them. */
  readonlyPaths?: readonly string[];
  clock: Pick<Clock, 'now'>;
  /** Files that the runtime makes (`/etc/resolv.conf`), unless a mount has them. */
  files?: Readonly<Record<string, string>>;
  /** Nodes under /proc and /sys, made when they are looked at. */
  virtual?: (path: string) => FsNode | undefined;
}

/** What is at a path of a container, in its own tree or on a mount, and what its user may do there. */
export class PathLookup {
  protected readonly layer: Layer;

  protected readonly mounts: Mounts;

  /** Whose rights are looked at; undefined: root, or the runtime itself. */
  protected readonly user: User | undefined = undefined;

  constructor(
    image: DirectoryNode,
    protected readonly options: FileSystemOptions,
  ) {
    this.layer = new Layer(image, options.clock);
    this.mounts = new Mounts(options.mounts ?? []);
    for (const [path, text] of Object.entries(options.files ?? {}))
      this.layer.makeFile(path, () => Buffer.from(text));
    for (const mount of this.mounts.all()) this.makeMountPoint(mount);
  }

  mountTable(): readonly Mount[] {
    return this.mounts.all();
  }

  protected existing(path: string, follow: boolean) {
    const at = this.locate(path, follow);
    if (at.kind === 'host') return at;
    if (!at.node) throw new FileError('ENOENT', path);
    return { ...at, node: at.node };
  }

  protected writable(path: string, follow: boolean): Place {
    const at = this.locate(path, follow);
    this.mustBeWritable(at, path);
    return at;
  }

  protected creatable(path: string): Place {
    const at = this.writable(path, false);
    if (at.kind === 'memory' && at.node) throw new FileError('EEXIST', path);
    if (at.kind === 'memory') this.mustChangeDirectory(at.path, path);
    return at;
  }

  protected locate(path: string, follow: boolean): Place {
    const place = walk(path, follow, (step) => this.at(step));
    if (this.user) this.mustReach(place, path, this.user);
    return place;
  }

  /** Who what is made belongs to. */
  protected get owner(): { uid: number; gid: number } {
    return { uid: this.user?.uid ?? 0, gid: this.user?.gid ?? 0 };
  }

  protected must(wanted: number, node: FsNode, shown: string): void {
    if (this.user && node.kind !== 'device' && !mayAccess(node, this.user, wanted))
      throw new FileError('EACCES', shown);
  }

  protected mustOwn(node: FsNode, shown: string): void {
    if (this.user && node.uid !== this.user.uid) throw new FileError('EPERM', shown);
  }

  /** Entries come and go by the rights of their directory. */
  protected mustChangeDirectory(path: string, shown: string, removed?: FsNode): void {
    if (!this.user) return;
    const parent = this.at(posix.dirname(path));
    if (parent.kind !== 'memory' || !parent.node) return;
    this.must(access.write, parent.node, shown);
    if (removed) mustRemove(removed, parent.node, { user: this.user, shown });
  }

  protected mustBeWritable(at: Place, shown: string): void {
    const readonly = this.options.readonlyPaths?.some((path) => isWithin(at.path, path)) ?? false;
    if (readonly || (at.kind === 'host' ? !isWritable(at) : at.readonly || this.options.readonlyRoot))
      throw new FileError('EROFS', shown);
  }

  /** Every directory above has to let the user through. */
  private mustReach({ kind, path }: Place, shown: string, user: User): void {
    if (kind !== 'memory') return;
    for (let up = posix.dirname(path); up !== '/'; up = posix.dirname(up)) {
      const { node } = this.at(up) as Partial<MemoryPlace>;
      if (node?.kind === 'directory' && !mayAccess(node, user, access.search))
        throw new FileError('EACCES', shown);
    }
  }

  /** What is at a path without links. */
  private at(path: string): Place {
    const mask = this.options.maskedPaths?.find((masked) => isWithin(path, masked));
    if (mask === undefined) return this.unmasked(path);
    const place: MemoryPlace = { kind: 'memory', path, node: undefined };
    if (path !== mask) return place;
    const kind = kindOf(this.unmasked(path));
    if (kind !== undefined) place.node = kind === 'directory' ? directory({}, 0o555) : device('null');
    return place;
  }

  private unmasked(path: string): Place {
    const mounted = this.mounts.find(path);
    if (mounted) return mounted;
    if (isWithin(path, '/proc') || isWithin(path, '/sys')) {
      const virtual = this.options.virtual?.(path);
      if (virtual) return { kind: 'memory', path, node: virtual };
    }
    return { kind: 'memory', path, node: this.layer.node(path) };
  }

  /** The runtime makes mount points even on a read-only root, as runc does. */
  private makeMountPoint({ containerPath: path, hostPath, tree }: Mount): void {
    const isInsideAnother = this.mounts
      .all()
      .some((m) => m.containerPath !== path && isWithin(path, m.containerPath));
    if (path === '/' || isInsideAnother) return;
    const parent = this.layer.makeDirectories(posix.dirname(path));
    if (parent.children.has(posix.basename(path))) return;
    if (tree ? tree.kind === 'file' : isHostFile(hostPath)) this.layer.makeFile(path, noBytes);
    else this.layer.makeDirectories(path);
  }
}

export const noBytes = Buffer.alloc(0);

function isWithin(path: string, outer: string): boolean {
  return path.startsWith(outer) && (path.length === outer.length || path[outer.length] === '/');
}

import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { posix } from 'node:path';
import type { Clock } from '@tinkernetes/component-base';
import { errorCode } from '../error-code';
import type { User } from '../kernel/process';
import { openBlockDevice, type BlockDevice } from './block-device';
import { FileError } from './file-error';
import { infoOf, kindOf, onHost, type FileInfo } from './file-info';
import { mostBytes, resizeOnHost, type ResizeOptions } from './file-size';
import { Layer } from './layer';
import { isHostFile, isWritable, Mounts, type HostPlace, type Mount } from './mounts';
import { contentOf, device, directory, type DirectoryNode, type FsNode } from './nodes';
import { access, giveToUser, mayAccess, mustRemove } from './permissions';
import { linkTarget, walk, type MemoryPlace, type Place } from './walk';

export interface WriteOptions {
  append?: boolean;
  mode?: number;
  user?: User;
}

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

const executableBits = 0o111;
/** Of a disk that a command wants as a whole. */
const mostAtOnce = 256 * 1024 ** 2;

/**
 * A container's file system: the image's tree, shared and copied where the container writes, and mounts of the
 * machine's directories. Symbolic links are resolved inside the container, so a link in a mount can't lead out of it.
 */
export class FileSystem {
  private readonly layer: Layer;
  private readonly mounts: Mounts;
  private readonly watchers = new Map<string, Set<() => void>>();
  /** Whose rights are looked at; undefined: root, or the runtime itself. */
  private readonly user: User | undefined = undefined;

  constructor(
    image: DirectoryNode,
    private readonly options: FileSystemOptions,
  ) {
    this.layer = new Layer(image, options.clock);
    this.mounts = new Mounts(options.mounts ?? []);
    for (const [path, text] of Object.entries(options.files ?? {}))
      this.layer.makeFile(path, () => Buffer.from(text));
    for (const { containerPath, hostPath } of this.mounts.all()) this.makeMountPoint(containerPath, hostPath);
  }

  /** The same files as a user sees them: what the image and the container have is subject to its modes. */
  forUser(user: User): FileSystem {
    if (user.uid === 0) return this;
    const view = Object.create(this) as FileSystem;
    Object.defineProperty(view, 'user', { value: user });
    return view;
  }

  /** Bytes that the container wrote into its own layer. */
  get writtenBytes(): number {
    return this.layer.writtenBytes;
  }

  mountTable(): readonly Mount[] {
    return this.mounts.all();
  }

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

  readFile(path: string): Buffer {
    const at = this.existing(path, true);
    if (at.kind === 'host' && at.mount.isDevice && diskSize(at) > mostAtOnce)
      throw new FileError('ENOMEM', path);
    if (at.kind === 'host') return onHost(path, () => readFileSync(at.hostPath));
    if (at.node.kind === 'directory') throw new FileError('EISDIR', path);
    this.must(access.read, at.node, path);
    return at.node.kind === 'file' ? contentOf(at.node) : Buffer.alloc(0);
  }

  writeFile(path: string, data: Buffer, { append = false, mode = 0o644, user }: WriteOptions = {}): void {
    const at = this.writable(path, true);
    if (at.kind === 'host' && at.mount.isDevice) {
      const file = openBlockDevice({ hostPath: at.hostPath, readonly: at.mount.readonly }, path, 'write');
      void file.write(data);
      file.release();
    } else if (at.kind === 'host') {
      const isNew = this.user !== undefined && !existsSync(at.hostPath);
      onHost(path, () => (append ? appendFileSync : writeFileSync)(at.hostPath, data, { mode }));
      if (isNew) giveToUser(at.hostPath, this.user);
    } else {
      if (at.node?.kind === 'directory') throw new FileError('EISDIR', path);
      if (at.node) this.must(access.write, at.node, path);
      else this.mustChangeDirectory(at.path, path);
      const { uid, gid } = user ?? this.owner;
      this.layer.write(at.path, data, { append, mode, uid, gid });
    }
    this.changed(at.path);
  }

  /** Makes the file so long, with zeros where it grows, and first of all makes it. */
  async resize(path: string, size: number, options: ResizeOptions & { user: User }): Promise<void> {
    if (!this.exists(path)) this.writeFile(path, noBytes, { user: options.user });
    const at = this.existing(path, true);
    this.mustBeWritable(at, path);
    if (at.kind === 'host') {
      if (at.mount.isDevice) throw new FileError('EINVAL', path);
      await resizeOnHost(at, size, options);
    } else {
      if (at.node.kind !== 'file')
        throw new FileError(at.node.kind === 'directory' ? 'EISDIR' : 'EINVAL', path);
      this.must(access.write, at.node, path);
      const length = options.allocates ? Math.max(size, contentOf(at.node).length) : size;
      if (length > mostBytes) throw new FileError('ENOSPC', path);
      this.layer.resize(at.path, at.node, length);
    }
    this.changed(at.path);
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

  mkdir(path: string, { parents = false, mode = 0o755 }: { parents?: boolean; mode?: number } = {}): void {
    if (parents) {
      const clean = posix.normalize(path).replace(/(.)\/$/, '$1');
      if (this.exists(clean)) {
        if (!this.isDirectory(clean)) throw new FileError('EEXIST', path);
        return;
      }
      this.mkdir(posix.dirname(clean), { parents });
    }
    const at = this.creatable(path);
    if (at.kind === 'host') {
      onHost(path, () => mkdirSync(at.hostPath, { mode }));
      giveToUser(at.hostPath, this.user);
    } else {
      const made = { ...directory({}, mode), ...this.owner, mtime: this.options.clock.now() };
      this.layer.put(at.path, path, made);
    }
  }

  symlink(target: string, path: string): void {
    const at = this.creatable(path);
    if (at.kind === 'host') return onHost(path, () => symlinkSync(target, at.hostPath));
    const base = { mode: 0o777, ...this.owner, mtime: this.options.clock.now() };
    this.layer.put(at.path, path, { kind: 'link', target, ...base });
  }

  unlink(path: string): void {
    const at = this.existing(path, false);
    this.mustBeWritable(at, path);
    if (at.kind === 'host') onHost(path, () => unlinkSync(at.hostPath));
    else {
      if (at.node.kind === 'directory') throw new FileError('EISDIR', path);
      this.mustChangeDirectory(at.path, path, at.node);
      this.layer.remove(at.path, path);
    }
    this.changed(at.path);
  }

  rmdir(path: string): void {
    const at = this.existing(path, false);
    if (this.mounts.isMountPoint(at.path)) throw new FileError('EBUSY', path);
    this.mustBeWritable(at, path);
    if (at.kind === 'host') return onHost(path, () => rmdirSync(at.hostPath));
    if (at.node.kind !== 'directory') throw new FileError('ENOTDIR', path);
    if (at.node.children.size > 0) throw new FileError('ENOTEMPTY', path);
    this.mustChangeDirectory(at.path, path, at.node);
    this.layer.remove(at.path, path);
  }

  rename(from: string, to: string): void {
    const source = this.existing(from, false);
    const target = this.locate(to, false);
    this.mustBeWritable(source, from);
    this.mustBeWritable(target, to);
    if (source.kind === 'host' && target.kind === 'host') {
      onHost(from, () => renameSync(source.hostPath, target.hostPath));
    } else if (source.kind === 'memory' && target.kind === 'memory') {
      if (target.node?.kind === 'directory' && source.node.kind !== 'directory')
        throw new FileError('EISDIR', to);
      this.mustChangeDirectory(source.path, from, source.node);
      this.mustChangeDirectory(target.path, to, target.node);
      this.layer.remove(source.path, from);
      this.layer.put(target.path, to, source.node);
    } else {
      throw new FileError('EXDEV', to);
    }
    this.changed(source.path);
    this.changed(target.path);
  }

  chmod(path: string, mode: number): void {
    const at = this.existing(path, true);
    this.mustBeWritable(at, path);
    if (at.kind === 'host') return onHost(path, () => chmodSync(at.hostPath, mode));
    this.mustOwn(at.node, path);
    this.layer.change(at.path, path, { mode });
  }

  chown(path: string, uid: number, gid: number): void {
    const at = this.existing(path, true);
    this.mustBeWritable(at, path);
    // Without root on the machine nothing there can be given away; the container's own tree remembers it.
    if (at.kind !== 'memory') return;
    if (this.user && uid !== at.node.uid) throw new FileError('EPERM', path);
    this.mustOwn(at.node, path);
    this.layer.change(at.path, path, { uid, gid });
  }

  utimes(path: string, mtime: number): void {
    const at = this.existing(path, true);
    this.mustBeWritable(at, path);
    if (at.kind === 'host') return onHost(path, () => utimesSync(at.hostPath, mtime / 1000, mtime / 1000));
    if (this.user && at.node.uid !== this.user.uid) this.must(access.write, at.node, path);
    this.layer.change(at.path, path, { mtime });
  }

  /** Copies a file's node with its program, so that a copied executable still runs. */
  copyFile(from: string, to: string): void {
    const node = this.node(from);
    this.writeFile(to, this.readFile(from), { mode: this.stat(from).mode & 0o7777 });
    if (node?.kind !== 'file' || !node.program) return;
    const at = this.existing(to, true);
    if (at.kind === 'memory') this.layer.put(at.path, to, node);
  }

  isExecutable(path: string): boolean {
    if (!this.exists(path)) return false;
    const { kind, mode } = this.stat(path);
    return kind === 'file' && (mode & executableBits) !== 0;
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

  /** For the runtime: a directory with all above it, also on a read-only root. */
  makeDirectories(path: string): void {
    this.layer.makeDirectories(path);
  }

  private changed(path: string): void {
    for (const listener of this.watchers.get(path) ?? []) listener();
  }

  private existing(path: string, follow: boolean) {
    const at = this.locate(path, follow);
    if (at.kind === 'host') return at;
    if (!at.node) throw new FileError('ENOENT', path);
    return { ...at, node: at.node };
  }

  private writable(path: string, follow: boolean): Place {
    const at = this.locate(path, follow);
    this.mustBeWritable(at, path);
    return at;
  }

  private creatable(path: string): Place {
    const at = this.writable(path, false);
    if (at.kind === 'memory' && at.node) throw new FileError('EEXIST', path);
    if (at.kind === 'memory') this.mustChangeDirectory(at.path, path);
    return at;
  }

  private locate(path: string, follow: boolean): Place {
    const place = walk(path, follow, (step) => this.at(step));
    if (this.user) this.mustReach(place, path, this.user);
    return place;
  }

  /** Who what is made belongs to. */
  private get owner(): { uid: number; gid: number } {
    return { uid: this.user?.uid ?? 0, gid: this.user?.gid ?? 0 };
  }

  private must(wanted: number, node: FsNode, shown: string): void {
    if (this.user && node.kind !== 'device' && !mayAccess(node, this.user, wanted))
      throw new FileError('EACCES', shown);
  }

  private mustOwn(node: FsNode, shown: string): void {
    if (this.user && node.uid !== this.user.uid) throw new FileError('EPERM', shown);
  }

  /** Entries come and go by the rights of their directory. */
  private mustChangeDirectory(path: string, shown: string, removed?: FsNode): void {
    if (!this.user) return;
    const parent = this.at(posix.dirname(path));
    if (parent.kind !== 'memory' || !parent.node) return;
    this.must(access.write, parent.node, shown);
    if (removed) mustRemove(removed, parent.node, { user: this.user, shown });
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
    const host = this.mounts.find(path);
    if (host) return host;
    if (isWithin(path, '/proc') || isWithin(path, '/sys')) {
      const virtual = this.options.virtual?.(path);
      if (virtual) return { kind: 'memory', path, node: virtual };
    }
    return { kind: 'memory', path, node: this.layer.node(path) };
  }

  private mustBeWritable(at: Place, shown: string): void {
    const readonly = this.options.readonlyPaths?.some((path) => isWithin(at.path, path)) ?? false;
    if (readonly || (at.kind === 'host' ? !isWritable(at) : this.options.readonlyRoot))
      throw new FileError('EROFS', shown);
  }

  /** The runtime makes mount points even on a read-only root, as runc does. */
  private makeMountPoint(path: string, hostPath: string): void {
    const isInsideAnother = this.mounts
      .all()
      .some((m) => m.containerPath !== path && isWithin(path, m.containerPath));
    if (path === '/' || isInsideAnother) return;
    const parent = this.layer.makeDirectories(posix.dirname(path));
    if (parent.children.has(posix.basename(path))) return;
    if (isHostFile(hostPath)) this.layer.makeFile(path, noBytes);
    else this.layer.makeDirectories(path);
  }
}

const noBytes = Buffer.alloc(0);

const diskSize = ({ path, hostPath }: HostPlace): number => onHost(path, () => statSync(hostPath).size);

function isWithin(path: string, outer: string): boolean {
  return path.startsWith(outer) && (path.length === outer.length || path[outer.length] === '/');
}

const unique = (a: readonly string[], b: readonly string[]): string[] => [...new Set([...a, ...b])].sort();

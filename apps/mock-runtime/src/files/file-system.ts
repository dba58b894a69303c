import {
  appendFileSync,
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { posix } from 'node:path';
import type { Clock } from '@tinkernetes/component-base';
import type { User } from '../kernel/process';
import { asFileError, FileError } from './file-error';
import { contentOf, directory, type DirectoryNode, type FsNode } from './nodes';
import { errorCode } from '../error-code';

/** A directory or file of the machine seen in the container. */
export interface Mount {
  containerPath: string;
  hostPath: string;
  readonly: boolean;
}

export interface FileInfo {
  kind: 'file' | 'directory' | 'link' | 'device' | 'other';
  mode: number;
  uid: number;
  gid: number;
  size: number;
  mtime: number;
}

export interface WriteOptions {
  append?: boolean;
  mode?: number;
  user?: User;
}

export interface FileSystemOptions {
  mounts?: readonly Mount[];
  readonlyRoot?: boolean;
  clock: Pick<Clock, 'now'>;
  /** Files that the runtime makes (`/etc/resolv.conf`), unless a mount has them. */
  files?: Readonly<Record<string, string>>;
  /** Nodes under /proc and /sys, made when they are looked at. */
  virtual?: (path: string) => FsNode | undefined;
}

type Located =
  | { kind: 'memory'; path: string; node: FsNode | undefined }
  | { kind: 'host'; path: string; hostPath: string; readonly: boolean };

const maxLinks = 40;
const executableBits = 0o111;

/**
 * A container's file system: the image's tree, shared and copied where the container writes, and mounts of the
 * machine's directories. Symbolic links are resolved inside the container, so a link in a mount can't lead out of it.
 */
export class FileSystem {
  private root: DirectoryNode;
  private readonly mounts: readonly Mount[];
  private readonly watchers = new Map<string, Set<() => void>>();
  /** Bytes that the container wrote into its own layer. */
  writtenBytes = 0;

  constructor(
    image: DirectoryNode,
    private readonly options: FileSystemOptions,
  ) {
    this.root = image;
    this.mounts = [...(options.mounts ?? [])]
      .map((m) => ({ ...m, containerPath: posix.normalize(m.containerPath).replace(/(.)\/$/, '$1') }))
      .sort((a, b) => b.containerPath.length - a.containerPath.length);
    for (const [path, text] of Object.entries(options.files ?? {})) this.makeFile(path, Buffer.from(text));
    for (const { containerPath, hostPath } of this.mounts) this.makeMountPoint(containerPath, hostPath);
  }

  mountTable(): readonly Mount[] {
    return this.mounts;
  }

  stat(path: string): FileInfo {
    return this.info(this.existing(path, true));
  }

  lstat(path: string): FileInfo {
    return this.info(this.existing(path, false));
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
    const at = this.locate(path, false);
    return at.kind === 'memory' ? at.node?.kind === 'link' : linkTarget(at) !== undefined;
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

  readFile(path: string): Buffer {
    const at = this.existing(path, true);
    if (at.kind === 'host') return this.onHost(path, () => readFileSync(at.hostPath));
    if (at.node.kind === 'directory') throw new FileError('EISDIR', path);
    return at.node.kind === 'file' ? contentOf(at.node) : Buffer.alloc(0);
  }

  writeFile(path: string, data: Buffer, { append = false, mode = 0o644, user }: WriteOptions = {}): void {
    const at = this.locate(path, true);
    if (at.kind === 'host') {
      this.mustBeWritable(at.readonly, path);
      this.onHost(path, () => (append ? appendFileSync : writeFileSync)(at.hostPath, data, { mode }));
    } else {
      if (at.node?.kind === 'directory') throw new FileError('EISDIR', path);
      const name = posix.basename(at.path);
      const parent = this.writableDirectory(posix.dirname(at.path), path);
      const before = at.node?.kind === 'file' ? at.node : undefined;
      const content = append && before ? Buffer.concat([contentOf(before), data]) : Buffer.from(data);
      this.writtenBytes += content.length - (before ? contentOf(before).length : 0);
      parent.children.set(name, {
        kind: 'file',
        mode: before?.mode ?? mode,
        uid: before?.uid ?? user?.uid ?? 0,
        gid: before?.gid ?? user?.gid ?? 0,
        mtime: this.options.clock.now(),
        data: content,
        owner: this,
      });
    }
    this.changed(at.path);
  }

  readdir(path: string): string[] {
    const at = this.existing(path, true);
    const mounted = this.mountedBelow(at.path);
    if (at.kind === 'host')
      return unique(
        this.onHost(path, () => readdirSync(at.hostPath)),
        mounted,
      );
    if (at.node.kind !== 'directory') throw new FileError('ENOTDIR', path);
    return unique([...at.node.children.keys()], mounted);
  }

  readlink(path: string): string {
    const at = this.existing(path, false);
    if (at.kind === 'host') return this.onHost(path, () => readlinkSync(at.hostPath));
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
    const at = this.locate(path, false);
    if (at.kind === 'host') {
      this.mustBeWritable(at.readonly, path);
      this.onHost(path, () => mkdirSync(at.hostPath, { mode }));
      return;
    }
    if (at.node) throw new FileError('EEXIST', path);
    this.putNode(at.path, path, { ...directory({}, mode), mtime: this.options.clock.now(), owner: this });
  }

  symlink(target: string, path: string): void {
    const at = this.locate(path, false);
    if (at.kind === 'host') {
      this.mustBeWritable(at.readonly, path);
      this.onHost(path, () => symlinkSync(target, at.hostPath));
      return;
    }
    if (at.node) throw new FileError('EEXIST', path);
    const base = { mode: 0o777, uid: 0, gid: 0, mtime: this.options.clock.now(), owner: this };
    this.putNode(at.path, path, { kind: 'link', target, ...base });
  }

  unlink(path: string): void {
    const at = this.existing(path, false);
    if (at.kind === 'host') {
      this.mustBeWritable(at.readonly, path);
      this.onHost(path, () => unlinkSync(at.hostPath));
    } else {
      if (at.node.kind === 'directory') throw new FileError('EISDIR', path);
      this.writableDirectory(posix.dirname(at.path), path).children.delete(posix.basename(at.path));
    }
    this.changed(at.path);
  }

  rmdir(path: string): void {
    const at = this.existing(path, false);
    if (this.mounts.some((m) => m.containerPath === at.path)) throw new FileError('EBUSY', path);
    if (at.kind === 'host') {
      this.mustBeWritable(at.readonly, path);
      this.onHost(path, () => rmdirSync(at.hostPath));
      return;
    }
    if (at.node.kind !== 'directory') throw new FileError('ENOTDIR', path);
    if (at.node.children.size > 0) throw new FileError('ENOTEMPTY', path);
    this.writableDirectory(posix.dirname(at.path), path).children.delete(posix.basename(at.path));
  }

  rename(from: string, to: string): void {
    const source = this.existing(from, false);
    const target = this.locate(to, false);
    if (source.kind === 'host' && target.kind === 'host') {
      this.mustBeWritable(source.readonly || target.readonly, to);
      this.onHost(from, () => renameSync(source.hostPath, target.hostPath));
    } else if (source.kind === 'memory' && target.kind === 'memory') {
      if (target.node?.kind === 'directory' && source.node.kind !== 'directory')
        throw new FileError('EISDIR', to);
      const node = source.node;
      this.writableDirectory(posix.dirname(source.path), from).children.delete(posix.basename(source.path));
      this.putNode(target.path, to, node);
    } else {
      throw new FileError('EXDEV', to);
    }
    this.changed(source.path);
    this.changed(target.path);
  }

  chmod(path: string, mode: number): void {
    const at = this.existing(path, true);
    if (at.kind === 'host') {
      this.mustBeWritable(at.readonly, path);
      this.onHost(path, () => chmodSync(at.hostPath, mode));
      return;
    }
    this.putNode(at.path, path, { ...this.ownCopy(at.node), mode });
  }

  chown(path: string, uid: number, gid: number): void {
    const at = this.existing(path, true);
    // Without root on the machine nothing there can be given away; the container's own tree remembers it.
    if (at.kind === 'memory') this.putNode(at.path, path, { ...this.ownCopy(at.node), uid, gid });
  }

  utimes(path: string, mtime: number): void {
    const at = this.existing(path, true);
    if (at.kind === 'host') {
      this.mustBeWritable(at.readonly, path);
      this.onHost(path, () => utimesSync(at.hostPath, mtime / 1000, mtime / 1000));
      return;
    }
    this.putNode(at.path, path, { ...this.ownCopy(at.node), mtime });
  }

  /** Copies a file's node with its program, so that a copied executable still runs. */
  copyFile(from: string, to: string): void {
    const node = this.node(from);
    this.writeFile(to, this.readFile(from), { mode: this.stat(from).mode & 0o7777 });
    if (node?.kind !== 'file' || !node.program) return;
    const at = this.existing(to, true);
    if (at.kind === 'memory') this.putNode(at.path, to, { ...node, owner: this });
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

  private changed(path: string): void {
    for (const listener of this.watchers.get(path) ?? []) listener();
  }

  private existing(path: string, follow: boolean) {
    const at = this.locate(path, follow);
    if (at.kind === 'host') return at;
    if (!at.node) throw new FileError('ENOENT', path);
    return { ...at, node: at.node };
  }

  private info(
    at: { kind: 'host'; hostPath: string; path: string } | { kind: 'memory'; node: FsNode },
  ): FileInfo {
    if (at.kind === 'host') {
      const s = this.onHost(at.path, () => lstatSync(at.hostPath));
      const kind = s.isFile()
        ? 'file'
        : s.isDirectory()
          ? 'directory'
          : s.isSymbolicLink()
            ? 'link'
            : 'other';
      return { kind, mode: s.mode & 0o7777, uid: s.uid, gid: s.gid, size: s.size, mtime: s.mtimeMs };
    }
    const { node } = at;
    const size =
      node.kind === 'file' ? contentOf(node).length : node.kind === 'link' ? node.target.length : 4096;
    return { kind: node.kind, mode: node.mode, uid: node.uid, gid: node.gid, size, mtime: node.mtime };
  }

  /** Walks the path; a link anywhere but (unless `follow`) at the end is replaced by its target. */
  private locate(path: string, follow: boolean): Located {
    let rest = path.split('/').filter((name) => name !== '' && name !== '.');
    let done: string[] = [];
    let links = 0;
    let at = this.at('/');
    while (rest.length > 0) {
      const [name = '', ...after] = rest;
      rest = after;
      if (name === '..') {
        done = done.slice(0, -1);
        at = this.at(`/${done.join('/')}`);
        continue;
      }
      if (at.kind === 'memory' && at.node?.kind !== 'directory')
        throw new FileError(at.node ? 'ENOTDIR' : 'ENOENT', path);
      const next = this.at(`/${[...done, name].join('/')}`);
      const target = rest.length > 0 || follow ? linkTarget(next) : undefined;
      if (target === undefined) {
        done = [...done, name];
        at = next;
        continue;
      }
      if ((links += 1) > maxLinks) throw new FileError('ELOOP', path);
      rest = [...target.split('/').filter((n) => n !== '' && n !== '.'), ...rest];
      if (target.startsWith('/')) done = [];
      at = this.at(`/${done.join('/')}`);
    }
    return at;
  }

  /** What is at a path without links. */
  private at(path: string): Located {
    const mount = this.mounts.find((m) => path === m.containerPath || path.startsWith(`${m.containerPath}/`));
    if (mount) {
      const hostPath = mount.hostPath + path.slice(mount.containerPath.length);
      return { kind: 'host', path, hostPath, readonly: mount.readonly };
    }
    if (/^\/(?:proc|sys)(?:\/|$)/.test(path)) {
      const virtual = this.options.virtual?.(path);
      if (virtual) return { kind: 'memory', path, node: virtual };
    }
    let node: FsNode | undefined = this.root;
    for (const name of path.split('/')) {
      if (name === '') continue;
      node = node?.kind === 'directory' ? node.children.get(name) : undefined;
    }
    return { kind: 'memory', path, node };
  }

  /** The directory as this container's own, all directories above it too. */
  private writableDirectory(path: string, shown: string): DirectoryNode {
    this.mustBeWritable(this.options.readonlyRoot ?? false, shown);
    return this.ownDirectory(path, shown);
  }

  private ownDirectory(path: string, shown: string): DirectoryNode {
    if (this.root.owner !== this) this.root = this.ownCopy(this.root) as DirectoryNode;
    let at = this.root;
    for (const name of path.split('/')) {
      if (name === '') continue;
      const next = at.children.get(name);
      if (!next) throw new FileError('ENOENT', shown);
      if (next.kind !== 'directory') throw new FileError('ENOTDIR', shown);
      const own = next.owner === this ? next : (this.ownCopy(next) as DirectoryNode);
      at.children.set(name, own);
      at = own;
    }
    return at;
  }

  private ownCopy(node: FsNode): FsNode {
    if (node.kind !== 'directory') return { ...node, owner: this };
    return { ...node, children: new Map(node.children), owner: this };
  }

  private putNode(path: string, shown: string, node: FsNode): void {
    if (path === '/') {
      if (node.kind === 'directory') this.root = node;
      return;
    }
    this.writableDirectory(posix.dirname(path), shown).children.set(posix.basename(path), node);
  }

  /** The runtime makes mount points even on a read-only root, as runc does. */
  private makeMountPoint(path: string, hostPath: string): void {
    if (
      path === '/' ||
      this.mounts.some((m) => m.containerPath !== path && path.startsWith(`${m.containerPath}/`))
    )
      return;
    const parent = posix.dirname(path);
    this.makeDirectories(parent);
    const own = this.ownDirectory(parent, path);
    if (own.children.has(posix.basename(path))) return;
    if (isHostFile(hostPath)) this.makeFile(path, Buffer.alloc(0));
    else own.children.set(posix.basename(path), { ...directory(), owner: this });
  }

  private makeFile(path: string, data: Buffer): void {
    this.makeDirectories(posix.dirname(path));
    const mtime = this.options.clock.now();
    this.ownDirectory(posix.dirname(path), path).children.set(posix.basename(path), {
      kind: 'file',
      mode: 0o644,
      uid: 0,
      gid: 0,
      mtime,
      data,
      owner: this,
    });
  }

  /** For the runtime: a directory with all above it, also on a read-only root. */
  makeDirectories(path: string): void {
    if (this.root.owner !== this) this.root = this.ownCopy(this.root) as DirectoryNode;
    let at = this.root;
    for (const name of path.split('/')) {
      if (name === '') continue;
      const next = at.children.get(name);
      const own: DirectoryNode =
        next?.kind === 'directory'
          ? next.owner === this
            ? next
            : (this.ownCopy(next) as DirectoryNode)
          : { ...directory(), owner: this };
      at.children.set(name, own);
      at = own;
    }
  }

  private mountedBelow(path: string): string[] {
    const prefix = path === '/' ? '/' : `${path}/`;
    return this.mounts
      .filter(
        (m) => m.containerPath.startsWith(prefix) && !m.containerPath.slice(prefix.length).includes('/'),
      )
      .map((m) => m.containerPath.slice(prefix.length));
  }

  private mustBeWritable(readonly: boolean, path: string): void {
    if (readonly) throw new FileError('EROFS', path);
  }

  private onHost<T>(path: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw asFileError(error, path);
    }
  }
}

function linkTarget(at: Located): string | undefined {
  if (at.kind === 'memory') return at.node?.kind === 'link' ? at.node.target : undefined;
  try {
    return lstatSync(at.hostPath).isSymbolicLink() ? readlinkSync(at.hostPath) : undefined;
  } catch (error) {
    if (errorCode(error) !== undefined) return undefined;
    throw error;
  }
}

function isHostFile(path: string): boolean {
  try {
    return lstatSync(path).isFile();
  } catch (error) {
    if (errorCode(error) !== undefined) return false;
    throw error;
  }
}

const unique = (a: readonly string[], b: readonly string[]): string[] => [...new Set([...a, ...b])].sort();

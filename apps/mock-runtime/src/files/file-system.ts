import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { posix } from 'node:path';
import type { User } from '../kernel/process';
import { openBlockDevice } from './block-device';
import { FileError } from './file-error';
import { Fifo, makeFifoOnDisk } from './fifo';
import { onHost } from './file-info';
import { mostBytes, resizeOnHost, type ResizeOptions } from './file-size';
import { contentOf, directory } from './nodes';
import { noBytes } from './path-lookup';
import { access, giveToUser } from './permissions';
import { mustNotBlock, ReadableFiles } from './readable-files';

export interface WriteOptions {
  append?: boolean;
  mode?: number;
  user?: User;
}

/**
 * A container's file system: the image's tree, shared and copied where the container writes, and mounts of the
 * machine's directories. Symbolic links are resolved inside the container, so a link in a mount can't lead out of it.
 */
export class FileSystem extends ReadableFiles {
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

  writeFile(path: string, data: Buffer, { append = false, mode = 0o644, user }: WriteOptions = {}): void {
    const at = this.writable(path, true);
    if (at.kind === 'host' && at.mount.isDevice) {
      const file = openBlockDevice({ hostPath: at.hostPath, readonly: at.mount.readonly }, path, 'write');
      void file.write(data);
      file.release();
    } else if (at.kind === 'host') {
      const exists = existsSync(at.hostPath);
      if (exists) mustNotBlock(at);
      const isNew = this.user !== undefined && !exists;
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

  makeFifo(path: string, mode: number): void {
    const at = this.creatable(path);
    if (at.kind === 'host') {
      if (existsSync(at.hostPath)) throw new FileError('EEXIST', path);
      makeFifoOnDisk(at.hostPath, path, mode);
      giveToUser(at.hostPath, this.user);
      return;
    }
    const base = { mode, ...this.owner, mtime: this.options.clock.now() };
    this.layer.put(at.path, path, { kind: 'fifo', fifo: new Fifo(), ...base });
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

  /** For the runtime: a directory with all above it, also on a read-only root. */
  makeDirectories(path: string): void {
    this.layer.makeDirectories(path);
  }

  private changed(path: string): void {
    for (const listener of this.watchers.get(path) ?? []) listener();
  }
}

import { posix } from 'node:path';
import type { Clock } from '@tinkernetes/component-base';
import { FileError } from './file-error';
import { contentOf, directory, nodeAt, type DirectoryNode, type FileNode, type FsNode } from './nodes';

/** A container's writable layer over its image's tree, which is shared: what the container changes is copied first. */
export class Layer {
  /** Bytes that the container wrote. */
  writtenBytes = 0;

  constructor(
    private root: DirectoryNode,
    private readonly clock: Pick<Clock, 'now'>,
  ) {}

  node(path: string): FsNode | undefined {
    return nodeAt(this.root, path);
  }

  write(
    path: string,
    data: Buffer,
    { append, mode, uid, gid }: { append: boolean; mode: number; uid: number; gid: number },
  ): void {
    const node = this.node(path);
    const before = node?.kind === 'file' ? node : undefined;
    const content = append && before ? Buffer.concat([contentOf(before), data]) : Buffer.from(data);
    this.writtenBytes += content.length - (before ? contentOf(before).length : 0);
    this.put(path, path, {
      kind: 'file',
      mode: before?.mode ?? mode,
      uid: before?.uid ?? uid,
      gid: before?.gid ?? gid,
      mtime: this.clock.now(),
      data: content,
    });
  }

  /** Memory for what is added is taken only when it is written to. */
  resize(path: string, node: FileNode, size: number): void {
    const before = contentOf(node);
    const data = Buffer.alloc(size);
    before.copy(data);
    this.writtenBytes += size - before.length;
    this.put(path, path, { ...node, mtime: this.clock.now(), data });
  }

  /** Puts a node where its directory exists; errors name the path as it was `shown`. */
  put(path: string, shown: string, node: FsNode): void {
    const own = { ...node, owner: this };
    if (path === '/') {
      if (own.kind === 'directory') this.root = own;
      return;
    }
    this.directory(posix.dirname(path), shown).children.set(posix.basename(path), own);
  }

  remove(path: string, shown: string): void {
    this.directory(posix.dirname(path), shown).children.delete(posix.basename(path));
  }

  /** Changes what is known about a node, not its contents. */
  change(
    path: string,
    shown: string,
    changes: { mode?: number; uid?: number; gid?: number; mtime?: number },
  ) {
    const node = this.node(path);
    if (!node) throw new FileError('ENOENT', shown);
    this.put(path, shown, { ...this.ownCopy(node), ...changes });
  }

  /** A directory with all above it, made as far as they are missing. */
  makeDirectories(path: string): DirectoryNode {
    let at = this.ownRoot();
    for (const name of path.split('/')) {
      if (name === '') continue;
      const next = at.children.get(name);
      const own: DirectoryNode =
        next?.kind === 'directory' ? this.ownDirectory(next) : directoryOf(directory(), this);
      at.children.set(name, own);
      at = own;
    }
    return at;
  }

  makeFile(path: string, data: FileNode['data']): void {
    const parent = this.makeDirectories(posix.dirname(path));
    const mtime = this.clock.now();
    const node: FileNode = { kind: 'file', mode: 0o644, uid: 0, gid: 0, mtime, data, owner: this };
    parent.children.set(posix.basename(path), node);
  }

  /** The directory as this container's own, all directories above it too. */
  private directory(path: string, shown: string): DirectoryNode {
    let at = this.ownRoot();
    for (const name of path.split('/')) {
      if (name === '') continue;
      const next = at.children.get(name);
      if (!next) throw new FileError('ENOENT', shown);
      if (next.kind !== 'directory') throw new FileError('ENOTDIR', shown);
      const own = this.ownDirectory(next);
      at.children.set(name, own);
      at = own;
    }
    return at;
  }

  private ownRoot(): DirectoryNode {
    return (this.root = this.ownDirectory(this.root));
  }

  private ownDirectory(node: DirectoryNode): DirectoryNode {
    return node.owner === this ? node : directoryOf(node, this);
  }

  private ownCopy(node: FsNode): FsNode {
    return node.kind === 'directory' ? this.ownDirectory(node) : { ...node, owner: this };
  }
}

/** Written out: objects that are made by spreading have shapes of their own, which cost more than what is in them. */
const directoryOf = ({ mode, uid, gid, mtime, children }: DirectoryNode, owner: object): DirectoryNode => ({
  kind: 'directory',
  mode,
  uid,
  gid,
  mtime,
  children: new Map(children),
  owner,
});

import type { Fifo } from './fifo';
import type { Program } from '../kernel/process';

interface NodeBase {
  mode: number;
  uid: number;
  gid: number;
  /** Epoch milliseconds. */
  mtime: number;
  /** The file system that may change this node; others share it and copy it before they write. */
  owner?: object;
}

export interface FileNode extends NodeBase {
  kind: 'file';
  /** A function for contents that are made when they are read (images' big files, /proc). */
  data: Buffer | (() => Buffer);
  /** The code that runs when the file is executed. Loaded when first used. */
  program?: () => Promise<Program>;
}

export interface DirectoryNode extends NodeBase {
  kind: 'directory';
  children: Map<string, FsNode>;
}

export interface LinkNode extends NodeBase {
  kind: 'link';
  target: string;
}

/** `/dev/null` and its like: opened by name. */
export interface DeviceNode extends NodeBase {
  kind: 'device';
  device: 'null' | 'zero' | 'random' | 'full' | 'stdin' | 'stdout' | 'stderr' | 'tty';
}

export interface FifoNode extends NodeBase {
  kind: 'fifo';
  fifo: Fifo;
}

export type FsNode = FifoNode | FileNode | DirectoryNode | LinkNode | DeviceNode;

/** Image files carry the time of their build; a fixed one keeps listings the same on every node. */
const imageTime = Date.UTC(2025, 0, 1);

export function directory(children: Record<string, FsNode> = {}, mode = 0o755): DirectoryNode {
  return {
    kind: 'directory',
    mode,
    uid: 0,
    gid: 0,
    mtime: imageTime,
    children: new Map(Object.entries(children)),
  };
}

export function file(data: string | Buffer | (() => Buffer), mode = 0o644): FileNode {
  return {
    kind: 'file',
    mode,
    uid: 0,
    gid: 0,
    mtime: imageTime,
    data: typeof data === 'string' ? Buffer.from(data) : data,
  };
}

export function executable(program: () => Promise<Program>): FileNode {
  return { ...file(Buffer.from('\x7fELF'), 0o755), program };
}

export function link(target: string): LinkNode {
  return { kind: 'link', mode: 0o777, uid: 0, gid: 0, mtime: imageTime, target };
}

export function device(name: DeviceNode['device']): DeviceNode {
  return { kind: 'device', mode: 0o666, uid: 0, gid: 0, mtime: imageTime, device: name };
}

export const contentOf = (node: FileNode): Buffer =>
  typeof node.data === 'function' ? node.data() : node.data;

/** Puts a node at an absolute path of an image's tree, with the directories above it. */
export function place(root: DirectoryNode, path: string, node: FsNode): void {
  const names = path.split('/').filter((name) => name !== '');
  const last = names.pop();
  if (last === undefined) return;
  let at = root;
  for (const name of names) {
    let next = at.children.get(name);
    if (next?.kind !== 'directory') at.children.set(name, (next = directory()));
    at = next;
  }
  at.children.set(last, node);
}

/** What is at a path of a tree; links are not followed. */
export function nodeAt(tree: FsNode, path: string): FsNode | undefined {
  let node: FsNode | undefined = tree;
  for (const name of path.split('/')) {
    if (name === '') continue;
    node = node?.kind === 'directory' ? node.children.get(name) : undefined;
  }
  return node;
}

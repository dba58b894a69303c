import { lchownSync, lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import type { User } from '../kernel/process';
import { FileError } from './file-error';
import type { FsNode } from './nodes';

/** What a process wants with a file: bits of its mode. */
export const access = { read: 4, write: 2, search: 1 } as const;

const sticky = 0o1000;
const setgid = 0o2000;

/** Whether the mode allows it, by the first class that the user belongs to. Source: path_resolution(7). */
export function mayAccess({ uid, gid, mode }: FsNode, user: User, wanted: number): boolean {
  const isInGroup = user.gid === gid || user.groups.includes(gid);
  const shift = user.uid === uid ? 6 : isInGroup ? 3 : 0;
  return ((mode >> shift) & wanted) === wanted;
}

/** In a directory like /tmp only a file's owner, or the directory's, may remove it. */
export function mustRemove(
  node: FsNode,
  parent: FsNode,
  { user, shown }: { user: User; shown: string },
): void {
  if ((parent.mode & sticky) === 0 || node.uid === user.uid || parent.uid === user.uid) return;
  throw new FileError('EPERM', shown);
}

const isMachineRoot = process.getuid?.() === 0;

/** Gives a new file of the machine to the container's user; without root on the machine it stays the runtime's. */
export function giveToUser(hostPath: string, user: User | undefined): void {
  if (!isMachineRoot || !user) return;
  const inherits = (lstatSync(dirname(hostPath)).mode & setgid) !== 0;
  lchownSync(hostPath, user.uid, inherits ? lstatSync(hostPath).gid : user.gid);
}

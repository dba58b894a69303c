import type { Stats } from 'node:fs';
import { chmod, lchown, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '@tinkernetes/api';

const setGid = 0o2000;
const permissions = 0o7777;

/** What the group may do besides what it may already. Source: pkg/volume/volume_linux.go. */
export function modeForGroup(
  mode: number,
  { isDirectory, readOnly }: { isDirectory: boolean; readOnly: boolean },
): number {
  const mask = (readOnly ? 0o440 : 0o660) | (isDirectory ? setGid | 0o110 : 0);
  return (mode & permissions) | mask;
}

/**
 * Gives a volume to the Pod's `fsGroup`, with everything in it; with `OnRootMismatch` only where its own directory is not
 * the group's yet. Giving files away needs root: a kubelet without it leaves volumes as they are.
 */
export async function giveToGroup(
  path: string,
  pod: Pod,
  { readOnly }: { readOnly: boolean },
): Promise<void> {
  const { fsGroup, fsGroupChangePolicy } = pod.spec.securityContext ?? {};
  if (fsGroup === undefined || !mayGiveTo(fsGroup)) return;
  const root = await lstat(path);
  if (fsGroupChangePolicy === 'OnRootMismatch' && isGiven(root, fsGroup, readOnly)) return;
  await give(path, root, { group: fsGroup, readOnly });
}

const mayGiveTo = (group: number): boolean =>
  process.getuid?.() === 0 || (process.getgroups?.() ?? []).includes(group);

const isGiven = (stats: Stats, group: number, readOnly: boolean): boolean =>
  stats.gid === group &&
  (stats.mode & permissions) === modeForGroup(stats.mode, { isDirectory: stats.isDirectory(), readOnly });

/** What is in a directory first: its own mark says that all of it is done. */
async function give(path: string, stats: Stats, to: { group: number; readOnly: boolean }): Promise<void> {
  if (stats.isDirectory())
    for (const name of await readdir(path)) {
      const entry = join(path, name);
      await give(entry, await lstat(entry), to);
    }
  await lchown(path, stats.uid, to.group);
  if (stats.isSymbolicLink()) return;
  await chmod(path, modeForGroup(stats.mode, { isDirectory: stats.isDirectory(), readOnly: to.readOnly }));
}

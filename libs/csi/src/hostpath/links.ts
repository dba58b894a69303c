import { lstat, mkdir, readlink, rm, rmdir, symlink } from 'node:fs/promises';
import { dirname } from 'node:path';

/*
 * Bind mounts need root; a symbolic link shows the same files at the same path without. Whoever looks at the path of a
 * volume sees its data, and taking the link away leaves the data where they are.
 */

/** Makes `path` show `target`; a directory that was made as a mount point gives way, unless something is in it. */
export async function linkTo(target: string, path: string): Promise<void> {
  const known = await lstat(path).catch(ignoreMissing);
  if (known?.isSymbolicLink()) {
    if ((await readlink(path)) === target) return;
    await rm(path);
  } else if (known) await rmdir(path);
  await mkdir(dirname(path), { recursive: true });
  await symlink(target, path);
}

/** Takes the link away, if it is there. */
export async function unlinkFrom(path: string): Promise<void> {
  const known = await lstat(path).catch(ignoreMissing);
  if (known?.isSymbolicLink()) await rm(path);
}

function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  return undefined;
}

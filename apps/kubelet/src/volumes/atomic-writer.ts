import type { Random } from '@tinkernetes/component-base';
import { chmod, lstat, mkdir, readdir, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface ProjectedFile {
  data: Buffer;
  mode: number;
}
/** Relative path → file. */
export type Payload = ReadonlyMap<string, ProjectedFile>;

const dataLink = '..data';

/**
 * Replaces a volume's whole content at once: files live in a new timestamped directory, `..data` is a symlink to it that
 * is renamed into place, and each user-visible name is a symlink through `..data`. A reader never sees a mixture.
 * Source: pkg/volume/util/atomic_writer.
 */
export async function writeAtomically(
  directory: string,
  payload: Payload,
  { now, random }: { now: Date; random: Random },
): Promise<void> {
  await mkdir(directory, { recursive: true });
  const old = await readlink(join(directory, dataLink)).catch(ignoreMissing);
  const versionName = `..${timestamp(now)}.${parseInt(random.hex(4), 16)}`;
  const version = join(directory, versionName);
  await mkdir(version);
  await chmod(version, 0o755);
  for (const [path, { data, mode }] of payload) {
    const file = join(version, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, data);
    await chmod(file, mode);
  }
  const temporary = join(directory, '..data_tmp');
  await rm(temporary, { force: true });
  await symlink(versionName, temporary);
  await rename(temporary, join(directory, dataLink));
  await linkVisibleNames(directory, payload);
  if (old) await rm(join(directory, old), { recursive: true, force: true });
}

async function linkVisibleNames(directory: string, payload: Payload): Promise<void> {
  const names = new Set([...payload.keys()].map((path) => path.split('/')[0] ?? path));
  for (const name of names) {
    const link = join(directory, name);
    if (await lstat(link).catch(ignoreMissing)) continue;
    await symlink(join(dataLink, name), link);
  }
  for (const name of await readdir(directory)) {
    if (!name.startsWith('..') && !names.has(name)) await rm(join(directory, name), { force: true });
  }
}

/** `2026_01_31_12_00_00` */
const timestamp = (now: Date): string => now.toISOString().slice(0, 19).replace(/[-T:]/g, '_');

export function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  return undefined;
}

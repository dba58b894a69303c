import type { Random } from '@tinkernetes/component-base';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
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
 * Synchronous: two dozen operations on small files, each of which takes microseconds, and ten times that by way of
 * another thread. Source: pkg/volume/util/atomic_writer.
 */
export function writeAtomically(
  directory: string,
  payload: Payload,
  { now, random }: { now: Date; random: Random },
): void {
  // What is looked for in vain costs more than anything that is made: a new directory has nothing old in it.
  const isNew = mkdirSync(directory, { recursive: true }) !== undefined;
  const old = isNew ? undefined : unlessMissing(() => readlinkSync(join(directory, dataLink)));
  const versionName = `..${timestamp(now)}.${parseInt(random.hex(4), 16)}`;
  const version = join(directory, versionName);
  mkdirSync(version);
  chmodSync(version, 0o755);
  for (const [path, { data, mode }] of payload) {
    const file = join(version, path);
    if (path.includes('/')) mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, data);
    chmodSync(file, mode);
  }
  const temporary = join(directory, '..data_tmp');
  if (!isNew) rmSync(temporary, { force: true });
  symlinkSync(versionName, temporary);
  renameSync(temporary, join(directory, dataLink));
  linkVisibleNames(directory, payload);
  if (old) rmSync(join(directory, old), { recursive: true, force: true });
}

function linkVisibleNames(directory: string, payload: Payload): void {
  const names = new Set([...payload.keys()].map((path) => path.split('/')[0] ?? path));
  for (const name of names) {
    const link = join(directory, name);
    if (!lstatSync(link, { throwIfNoEntry: false })) symlinkSync(join(dataLink, name), link);
  }
  for (const name of readdirSync(directory)) {
    if (!name.startsWith('..') && !names.has(name)) rmSync(join(directory, name), { force: true });
  }
}

function unlessMissing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    return ignoreMissing(error);
  }
}

/** `2026_01_31_12_00_00` */
const timestamp = (now: Date): string => now.toISOString().slice(0, 19).replace(/[-T:]/g, '_');

export function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  return undefined;
}

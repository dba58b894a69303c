import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreMissing } from '../volumes/atomic-writer';

const blockSize = 512;

/** Bytes on disk below a directory, as `du` counts them. What vanishes meanwhile counts nothing. */
export async function diskUsage(directory: string): Promise<number> {
  const entries: Dirent[] = (await readdir(directory, { withFileTypes: true }).catch(ignoreMissing)) ?? [];
  let sum = 0;
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) sum += await diskUsage(path);
    else sum += ((await lstat(path).catch(ignoreMissing))?.blocks ?? 0) * blockSize;
  }
  return sum;
}

import { existsSync, readdirSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ignoreMissing } from '../volumes/atomic-writer';

/**
 * How often a container ran that the runtime knows nothing of any more: one more than its newest log says.
 * Source: pkg/kubelet/kuberuntime calcRestartCountByLogDir.
 */
export function attemptsByLogs(directory: string): number {
  const names = namesIn(directory);
  const attempts = names.flatMap((name) => /^(\d+)\.log/.exec(name)?.[1] ?? []).map(Number);
  return attempts.length > 0 ? Math.max(...attempts) + 1 : 0;
}

function namesIn(directory: string): string[] {
  // Nearly always: a container's first run. A look is cheaper than an error.
  if (!existsSync(directory)) return [];
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Of one run, with what was rotated. */
export async function removeLogs(path: string): Promise<void> {
  if (!path) return;
  const directory = dirname(path);
  const names = (await readdir(directory).catch(ignoreMissing)) ?? [];
  const ours = names.filter((name) => name === basename(path) || name.startsWith(`${basename(path)}.`));
  for (const name of ours) await rm(join(directory, name), { force: true });
}

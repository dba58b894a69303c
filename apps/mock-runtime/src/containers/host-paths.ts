import { CriError, type Mount } from '@tinkernetes/cri';
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from '../error-code';

/**
 * What is to be mounted and isn't there becomes a directory, as containerd does it. Where the user who runs this may not
 * make one, the container has to do without, and finds nothing there.
 */
export function makeMissingHostPaths(mounts: ReadonlyArray<Pick<Mount, 'hostPath'>>): void {
  for (const { hostPath } of mounts) {
    if (hostPath === '') continue;
    try {
      makeDirectory(hostPath);
    } catch (error) {
      if (['EACCES', 'EPERM', 'EROFS'].includes(errorCode(error) ?? '')) continue;
      throw new CriError('UNKNOWN', `failed to mkdir "${hostPath}": ${(error as Error).message}`);
    }
  }
}

/** Level by level: Node's recursive mkdir never ends in /proc. */
function makeDirectory(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })) return;
  const parent = dirname(path);
  if (parent !== path) makeDirectory(parent);
  try {
    mkdirSync(path, { mode: 0o755 });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

import { lstat, mkdir, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ignoreMissing } from './atomic-writer';

/**
 * `emptyDir` with `medium: Memory`: a directory on the machine's own memory file system, to which the volume's path is a
 * link. A tmpfs of its own, as upstream mounts it, needs root; a machine without one gets a directory on disk.
 */
export class MemoryDirectories {
  constructor(private readonly root = '/dev/shm/tinkernetes') {}

  async make(path: string, podUID: string, volume: string): Promise<void> {
    if (await lstat(path).catch(ignoreMissing)) return;
    const target = join(this.root, podUID, volume);
    await mkdir(dirname(path), { recursive: true });
    if (await this.isOnMemory(target)) await symlink(target, path);
    else await mkdir(path);
  }

  async remove(podUID: string): Promise<void> {
    await rm(join(this.root, podUID), { recursive: true, force: true });
  }

  private async isOnMemory(target: string): Promise<boolean> {
    // The root is not made where its file system isn't: that would be a directory on disk under a wrong name.
    if (!(await lstat(dirname(this.root)).catch(ignoreMissing))?.isDirectory()) return false;
    return mkdir(target, { recursive: true, mode: 0o777 }).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'EACCES' || error.code === 'EPERM' || error.code === 'EROFS') return false;
        throw error;
      },
    );
  }
}

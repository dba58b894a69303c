import { KeyedLock } from '@tinkernetes/component-base';
import { createHash } from 'node:crypto';
import { lstat, mkdir, rm, rmdir, symlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ignoreMissing } from './atomic-writer';

/**
 * `emptyDir` with `medium: Memory`: a directory on the machine's own memory file system, to which the volume's path is a
 * link. A tmpfs of its own, as upstream mounts it, needs root; a machine without one gets a directory on disk. Everybody
 * may write there: each user's kubelets, and each root directory, have a place that nobody else can look into.
 */
export class MemoryDirectories {
  private readonly root: string;
  private readonly lock = new KeyedLock();

  constructor(
    rootDir: string,
    private readonly memory = '/dev/shm',
  ) {
    const digest = createHash('sha256').update(resolve(rootDir)).digest('hex').slice(0, 16);
    this.root = join(memory, `tinkernetes-${userId()}-${digest}`);
  }

  make(path: string, podUID: string, volume: string): Promise<void> {
    return this.inTurn(async () => {
      const made = await lstat(path).catch(ignoreMissing);
      if (made && !made.isSymbolicLink()) return;
      await mkdir(dirname(path), { recursive: true });
      if (await this.isOurs()) {
        const target = join(this.root, podUID, volume);
        // Also of a link that was there: a machine that was started anew has lost what it led to.
        await mkdir(target, { recursive: true, mode: 0o777 });
        if (!made) await symlink(target, path);
        return;
      }
      if (made) await rm(path);
      await mkdir(path);
    });
  }

  remove(podUID: string): Promise<void> {
    return this.inTurn(async () => {
      if (!(await lstat(this.root).catch(ignoreMissing)) || !(await this.isOurs())) return;
      await rm(join(this.root, podUID), { recursive: true, force: true });
      await rmdir(this.root).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOTEMPTY' && error.code !== 'ENOENT') throw error;
      });
    });
  }

  /** The last Pod takes the place away, and may not do so while another makes itself at home there. */
  private inTurn(work: () => Promise<void>): Promise<void> {
    return this.lock.run(this.root, work);
  }

  /** Makes the place. False where there is no such file system, or where somebody else has made it before us. */
  private async isOurs(): Promise<boolean> {
    // Not made where its file system isn't: that would be a directory on disk under a wrong name.
    if (!(await lstat(this.memory).catch(ignoreMissing))?.isDirectory()) return false;
    try {
      await mkdir(this.root, { mode: 0o700 });
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (['EACCES', 'EPERM', 'EROFS'].includes(code)) return false;
      if (code !== 'EEXIST') throw error;
    }
    const made = await lstat(this.root).catch(ignoreMissing);
    return made?.isDirectory() === true && made.uid === userId() && (made.mode & 0o077) === 0;
  }
}

const userId = (): number => process.getuid?.() ?? 0;

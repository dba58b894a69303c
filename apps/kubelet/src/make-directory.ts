import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * As `mkdir -p`. Node's own recursive mkdir keeps a thread busy for ever where the system says that the new directory is
 * missing, though its parent is there: in /proc.
 */
export async function makeDirectory(path: string, mode = 0o777): Promise<void> {
  const parent = dirname(path);
  if (parent !== path && !(await exists(parent))) await makeDirectory(parent, mode);
  try {
    await mkdir(path, { mode });
  } catch (error) {
    // Somebody else has made it in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

const exists = async (path: string): Promise<boolean> => {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return false;
  }
};

import { mkdir, stat, writeFile } from 'node:fs/promises';
import { ignoreMissing } from './atomic-writer';

/** Source: https://kubernetes.io/docs/concepts/storage/volumes/#hostpath-volume-types */
export async function checkHostPath(path: string, type: string): Promise<void> {
  const found = await stat(path).catch(ignoreMissing);
  switch (type) {
    case '':
      return;
    case 'DirectoryOrCreate':
      if (!found) await mkdir(path, { recursive: true, mode: 0o755 });
      else if (!found.isDirectory())
        throw new Error(`hostPath type check failed: ${path} is not a directory`);
      return;
    case 'FileOrCreate':
      if (!found) await writeFile(path, '', { mode: 0o644 });
      else if (!found.isFile()) throw new Error(`hostPath type check failed: ${path} is not a file`);
      return;
    case 'Directory':
      if (!found?.isDirectory()) throw new Error(`hostPath type check failed: ${path} is not a directory`);
      return;
    case 'File':
      if (!found?.isFile()) throw new Error(`hostPath type check failed: ${path} is not a file`);
      return;
    case 'Socket':
      if (!found?.isSocket()) throw new Error(`hostPath type check failed: ${path} is not a socket file`);
      return;
    default:
      throw new Error(`hostPath type ${type} is not supported`);
  }
}

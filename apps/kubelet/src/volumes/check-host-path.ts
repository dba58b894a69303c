import type { Stats } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { makeDirectory } from '../make-directory';
import { ignoreMissing } from './atomic-writer';

interface Expectation {
  noun: string;
  is(found: Stats): boolean;
  /** Makes what is missing. */
  make?(path: string): Promise<unknown>;
}

const directory: Expectation = { noun: 'directory', is: (found) => found.isDirectory() };
const file: Expectation = { noun: 'file', is: (found) => found.isFile() };

/** By type. Source: https://kubernetes.io/docs/concepts/storage/volumes/#hostpath-volume-types */
const expectations: Readonly<Record<string, Expectation>> = {
  Directory: directory,
  DirectoryOrCreate: { ...directory, make: (path) => makeDirectory(path, 0o755) },
  File: file,
  FileOrCreate: { ...file, make: (path) => writeFile(path, '', { mode: 0o644 }) },
  Socket: { noun: 'socket file', is: (found) => found.isSocket() },
  CharDevice: { noun: 'character device', is: (found) => found.isCharacterDevice() },
  BlockDevice: { noun: 'block device', is: (found) => found.isBlockDevice() },
};

/** Throws where there is something else than the volume's type says. */
export async function checkHostPath(path: string, type: string): Promise<void> {
  if (type === '') return;
  const expected = expectations[type];
  if (!expected) throw new Error(`hostPath type ${type} is not supported`);
  const found = await stat(path).catch(ignoreMissing);
  if (!found && expected.make) await expected.make(path);
  else if (!found || !expected.is(found))
    throw new Error(`hostPath type check failed: ${path} is not a ${expected.noun}`);
}

import { mkdtemp, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkHostPath } from './check-host-path';

let root: string;
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'host-path-')));
  await writeFile(join(root, 'file'), '');
});
afterAll(() => rm(root, { recursive: true }));
/** `.`: the directory itself. */
const at = (path: string) => (path.startsWith('/') ? path : join(root, path));

it.each([
  ['', 'missing'],
  ['Directory', '.'],
  ['File', 'file'],
  ['FileOrCreate', 'file'],
  ['CharDevice', '/dev/null'],
])('type %j: takes %s', async (type, path) => {
  await expect(checkHostPath(at(path), type)).resolves.toBeUndefined();
});

it.each([
  ['Directory', 'file', 'directory'],
  ['Directory', 'missing', 'directory'],
  ['DirectoryOrCreate', 'file', 'directory'],
  ['File', '.', 'file'],
  ['FileOrCreate', '.', 'file'],
  ['Socket', 'file', 'socket file'],
  ['CharDevice', 'file', 'character device'],
  ['BlockDevice', '/dev/null', 'block device'],
])('type %s: refuses %s', async (type, path, noun) => {
  await expect(checkHostPath(at(path), type)).rejects.toThrow(
    `hostPath type check failed: ${at(path)} is not a ${noun}`,
  );
});

it('makes what is to be made', async () => {
  await checkHostPath(at('a/b'), 'DirectoryOrCreate');
  await checkHostPath(at('a/b/c'), 'FileOrCreate');
  expect((await stat(at('a/b/c'))).isFile()).toBe(true);
});

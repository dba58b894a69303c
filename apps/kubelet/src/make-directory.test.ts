import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeDirectory } from './make-directory';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'make-directory-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

it('makes a directory and what is missing above it, and is content with one that is there', async () => {
  const path = join(root, 'a', 'b', 'c');
  await Promise.all([makeDirectory(path), makeDirectory(path)]);
  await makeDirectory(path);
  expect((await stat(path)).isDirectory()).toBe(true);
});

it('makes it with the mode that was asked for', async () => {
  const path = join(root, 'a', 'b');
  await makeDirectory(path, 0o700);
  expect((await stat(path)).mode & 0o777).toBe(0o700);
  expect((await stat(join(root, 'a'))).mode & 0o777).toBe(0o700);
});

it('fails below a file, and below a link to nothing', async () => {
  await writeFile(join(root, 'file'), '');
  await symlink(join(root, 'absent'), join(root, 'link'));
  await expect(makeDirectory(join(root, 'file', 'a'))).rejects.toThrow('ENOTDIR');
  await expect(makeDirectory(join(root, 'link', 'a'))).rejects.toThrow('ENOENT');
});

const onLinux = process.platform === 'linux' ? it : it.skip;
onLinux('fails in /proc, which Node would try for ever', async () => {
  await expect(makeDirectory('/proc/tinkernetes/a')).rejects.toThrow(/ENOENT|EACCES|EPERM/);
});

import { lstat, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryDirectories } from './memory-directories';

describe('MemoryDirectories', () => {
  let directory: string;
  let path: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tk-memory-'));
    path = join(directory, 'pods/u1/volumes/kubernetes.io~empty-dir/cache');
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  it('are elsewhere, keep what is in them, and go with the Pod', async () => {
    await mkdir(join(directory, 'shm'));
    const memory = new MemoryDirectories(join(directory, 'shm/tinkernetes'));
    await memory.make(path, 'u1', 'cache');
    await writeFile(join(path, 'file'), 'x');
    await memory.make(path, 'u1', 'cache');
    expect(await readFile(join(directory, 'shm/tinkernetes/u1/cache/file'), 'utf8')).toBe('x');
    await memory.remove('u1');
    await expect(stat(path)).rejects.toThrow('ENOENT');
  });

  it('are on disk where a machine has no such file system', async () => {
    await new MemoryDirectories(join(directory, 'none/tinkernetes')).make(path, 'u1', 'cache');
    expect((await lstat(path)).isDirectory()).toBe(true);
  });
});

import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
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

  const shm = () => join(directory, 'shm');
  const memoryOf = (rootDir: string) => new MemoryDirectories(rootDir, shm());
  const place = async () => {
    const [name, ...others] = await readdir(shm());
    expect(others).toEqual([]);
    return join(shm(), name ?? '');
  };

  it('are elsewhere, keep what is in them, and go with the Pod', async () => {
    await mkdir(shm());
    const memory = memoryOf('/var/lib/kubelet');
    await memory.make(path, 'u1', 'cache');
    await writeFile(join(path, 'file'), 'x');
    await memory.make(path, 'u1', 'cache');
    expect(await readFile(join(await place(), 'u1/cache/file'), 'utf8')).toBe('x');
    expect((await stat(await place())).mode & 0o777).toBe(0o700);
    await memory.remove('u1');
    await expect(stat(path)).rejects.toThrow('ENOENT');
    expect(await readdir(shm())).toEqual([]);
  });

  it('are there again, and empty, after the machine was started anew', async () => {
    await mkdir(shm());
    const memory = memoryOf('/var/lib/kubelet');
    await memory.make(path, 'u1', 'cache');
    await writeFile(join(path, 'file'), 'x');
    await rm(await place(), { recursive: true });
    await memory.make(path, 'u1', 'cache');
    expect(await readdir(path)).toEqual([]);
    expect((await stat(await place())).mode & 0o777).toBe(0o700);
  });

  it('do not go to where somebody else has made the place after a start of the machine', async () => {
    await mkdir(shm());
    const memory = memoryOf('/var/lib/kubelet');
    await memory.make(path, 'u1', 'cache');
    const at = await place();
    await rm(at, { recursive: true });
    await mkdir(at);
    await chmod(at, 0o777);
    await memory.make(path, 'u1', 'cache');
    expect((await lstat(path)).isDirectory()).toBe(true);
    expect(await readdir(at)).toEqual([]);
  });

  it('of some Pods stay private while others end', async () => {
    await mkdir(shm());
    const memory = memoryOf('/var/lib/kubelet');
    const pods = Array.from({ length: 20 }, (_, i) => `u${i}`);
    await Promise.all(
      pods.map(async (uid) => {
        await memory.make(`${path}-${uid}`, uid, 'cache');
        await memory.remove(uid);
        await memory.make(`${path}-${uid}-again`, uid, 'cache');
      }),
    );
    expect((await stat(await place())).mode & 0o777).toBe(0o700);
    for (const uid of pods) expect((await lstat(`${path}-${uid}-again`)).isSymbolicLink()).toBe(true);
  });

  it('of one root directory are not those of another', async () => {
    await mkdir(shm());
    await memoryOf('/a').make(path, 'u1', 'cache');
    await memoryOf('/b').remove('u1');
    await memoryOf('/b').make(`${path}-b`, 'u1', 'cache');
    expect(await readdir(shm())).toHaveLength(2);
    await writeFile(join(path, 'file'), 'x');
    await expect(stat(join(`${path}-b`, 'file'))).rejects.toThrow('ENOENT');
  });

  it.each([
    ['a link', (at: string) => symlink(directory, at)],
    ['a directory that others may look into', (at: string) => mkdir(at).then(() => chmod(at, 0o777))],
  ])('are on disk where somebody has put %s in their place', async (_what, put) => {
    await mkdir(shm());
    const memory = memoryOf('/var/lib/kubelet');
    await memory.make(path, 'u1', 'cache');
    const at = await place();
    await memory.remove('u1');
    await rm(path);
    await put(at);
    await memory.make(path, 'u1', 'cache');
    expect((await lstat(path)).isDirectory()).toBe(true);
    await memory.remove('u1');
    expect(await readdir(shm())).toHaveLength(1);
  });

  it('are on disk where a machine has no such file system', async () => {
    await new MemoryDirectories('/var/lib/kubelet', join(directory, 'none')).make(path, 'u1', 'cache');
    expect((await lstat(path)).isDirectory()).toBe(true);
  });
});

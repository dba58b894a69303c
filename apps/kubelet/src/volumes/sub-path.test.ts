import { mkdir, mkdtemp, realpath, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { volumeMounts } from './volume-manager';

describe('sub paths', () => {
  let directory: string;
  let volume: string;
  beforeAll(async () => {
    directory = await realpath(await mkdtemp(join(tmpdir(), 'tk-subpath-')));
    volume = join(directory, 'volume');
    await mkdir(join(volume, 'inside'), { recursive: true });
    await symlink('/etc', join(volume, 'out'));
    await symlink('inside', join(volume, 'in'));
    await symlink(volume, join(directory, 'mount'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  const mount = async (path: string, subPath: string) => {
    const container = { name: 'c', volumeMounts: [{ name: 'v', mountPath: '/data', subPath }] };
    const [first] = await volumeMounts(container, new Map([['v', { path }]]), new Map());
    return first?.hostPath ?? '';
  };

  it.each(['inside', 'new/deep', 'in', 'in/new'])(
    'lead to directories of the volume: %s',
    async (subPath) => {
      const path = await mount(volume, subPath);
      expect((await stat(path)).isDirectory()).toBe(true);
      expect(await realpath(path)).toContain(volume);
    },
  );

  it('work in a volume that is mounted by a link', async () => {
    expect(await realpath(await mount(join(directory, 'mount'), 'inside'))).toBe(join(volume, 'inside'));
  });

  it.each(['out', 'out/hosts', 'out/new'])('may not follow a link out of the volume: %s', async (subPath) => {
    await expect(mount(volume, subPath)).rejects.toThrow(
      `subpath "${join(volume, subPath)}" not within volume path "${volume}"`,
    );
  });

  it.each(['/etc', '../x', 'a/../../b'])('are refused: %s', async (subPath) => {
    await expect(mount(volume, subPath)).rejects.toThrow(/must not/);
  });

  it('of a read-only volume are read-only', async () => {
    const container = { name: 'c', volumeMounts: [{ name: 'v', mountPath: '/data' }] };
    const mounted = new Map([['v', { path: volume, readOnly: true }]]);
    expect((await volumeMounts(container, mounted, new Map()))[0]?.readonly).toBe(true);
  });
});

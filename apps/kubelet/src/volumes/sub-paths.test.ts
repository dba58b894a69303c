import { realRandom } from '@tinkernetes/component-base';
import { mkdir, mkdtemp, readFile, realpath, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeAtomically } from './atomic-writer';
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

  const at = () => ({ env: new Map<string, string>(), subPaths: join(directory, 'sub-paths') });
  const mount = async (path: string, subPath: string, isProjected = false) => {
    const container = { name: 'c', volumeMounts: [{ name: 'v', mountPath: '/data', subPath }] };
    const [first] = await volumeMounts(container, new Map([['v', { path, isProjected }]]), at());
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

  it('need a value for each variable that they name', async () => {
    const at = { env: new Map([['EMPTY', '']]), subPaths: join(directory, 'sub-paths') };
    const container = {
      name: 'c',
      volumeMounts: [{ name: 'v', mountPath: '/data', subPathExpr: '$(NONE)/$(EMPTY)' }],
    };
    await expect(volumeMounts(container, new Map([['v', { path: volume }]]), at)).rejects.toThrow(
      'missing value for EMPTY, NONE',
    );
  });

  it('of a read-only volume are read-only', async () => {
    const container = { name: 'c', volumeMounts: [{ name: 'v', mountPath: '/data' }] };
    const mounted = new Map([['v', { path: volume, readOnly: true }]]);
    expect((await volumeMounts(container, mounted, at()))[0]?.readonly).toBe(true);
  });

  it('of projected files stay as they were until the container starts again', async () => {
    const projected = join(directory, 'projected');
    const write = (text: string) =>
      writeAtomically(
        projected,
        new Map(['file', 'deep/file'].map((name) => [name, { data: Buffer.from(text), mode: 0o640 }])),
        { now: new Date(), random: realRandom },
      );
    write('one');
    const before = await mount(projected, 'file', true);
    expect((await stat(before)).mode & 0o777).toBe(0o640);
    write('two');
    expect(await readFile(before, 'utf8')).toBe('one');
    expect(await readFile(await mount(projected, 'file', true), 'utf8')).toBe('two');
    const folder = await mount(projected, 'deep', true);
    write('three');
    expect(await readFile(join(folder, 'file'), 'utf8')).toBe('two');
  });
});

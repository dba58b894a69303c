import { chmod, lstat, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pod } from '@tinkernetes/api';
import { giveToGroup, modeForGroup } from './ownership';

it.each([
  [0o600, false, false, 0o660],
  [0o400, false, true, 0o440],
  [0o755, true, false, 0o2775],
  [0o755, true, true, 0o2755],
  [0o100644, false, false, 0o664],
])('%o becomes (directory: %s, read-only: %s) %o', (mode, isDirectory, readOnly, expected) => {
  expect(modeForGroup(mode, { isDirectory, readOnly }).toString(8)).toBe(expected.toString(8));
});

describe('giveToGroup', () => {
  let volume: string;
  // Its own group is one that everybody may give files to.
  const group = process.getgid?.() ?? 0;
  const podWith = (securityContext: Pod['spec']['securityContext']): Pod => ({
    metadata: { name: 'p' },
    spec: { containers: [], securityContext },
  });
  const modeOf = async (name: string) => ((await lstat(join(volume, name))).mode & 0o7777).toString(8);

  beforeEach(async () => {
    volume = await mkdtemp(join(tmpdir(), 'tk-owner-'));
    await mkdir(join(volume, 'dir'));
    await writeFile(join(volume, 'dir/file'), 'x');
    await symlink('/nowhere', join(volume, 'link'));
    await chmod(volume, 0o755);
    await chmod(join(volume, 'dir'), 0o700);
    await chmod(join(volume, 'dir/file'), 0o600);
  });
  afterEach(() => rm(volume, { recursive: true, force: true }));

  it('gives everything in a volume, and follows no links', async () => {
    await giveToGroup(volume, podWith({ fsGroup: group }), { readOnly: false });
    expect([await modeOf(''), await modeOf('dir'), await modeOf('dir/file')]).toEqual([
      '2775',
      '2770',
      '660',
    ]);
  });

  it('leaves volumes alone where no group is named', async () => {
    await giveToGroup(volume, podWith({}), { readOnly: false });
    expect(await modeOf('dir/file')).toBe('600');
  });

  it('looks no further than the directory with OnRootMismatch', async () => {
    const pod = podWith({ fsGroup: group, fsGroupChangePolicy: 'OnRootMismatch' });
    await giveToGroup(volume, pod, { readOnly: false });
    expect(await modeOf('dir/file')).toBe('660');
    await chmod(join(volume, 'dir/file'), 0o600);
    await giveToGroup(volume, pod, { readOnly: false });
    expect(await modeOf('dir/file')).toBe('600');
  });
});

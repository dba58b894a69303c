import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runShell } from '../testing/run-shell';

describe('truncate and fallocate', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'sizes-'));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  const run = (script: string) =>
    runShell(['sh', '-c', script], {
      kind: 'debian',
      mounts: [{ containerPath: '/data', hostPath: directory, readonly: false }],
    });
  const onDisk = (name: string) => statSync(join(directory, name)).blocks * 512;

  it('truncate makes a file of a volume long without writing it', async () => {
    expect((await run('truncate -s 50G /data/disk')).exitCode).toBe(0);
    expect(statSync(join(directory, 'disk')).size).toBe(50 * 1024 ** 3);
    expect(onDisk('disk')).toBeLessThan(1024 ** 2);
  });

  it('fallocate takes the room on the disk, which a volume’s limit counts', async () => {
    writeFileSync(join(directory, 'cache'), 'kept');
    expect((await run('fallocate -l 3M /data/cache')).exitCode).toBe(0);
    expect(onDisk('cache')).toBeGreaterThanOrEqual(3 * 1024 ** 2);
    expect(readFileSync(join(directory, 'cache')).subarray(0, 5).toString()).toBe('kept\0');
  });

  it.each([
    ['echo abcdef > f; truncate -s 3 f; cat f', 'abc'],
    ['echo abcdef > f; fallocate -l 3 f; cat f', 'abcdef\n'],
    ['echo abcdef > /data/f; truncate -s 3 /data/f; cat /data/f', 'abc'],
    ['echo abcdef > /data/f; fallocate -l 3 /data/f; cat /data/f', 'abcdef\n'],
    ['printf ab > f; truncate -s 4 f; od -An -c f', '   a   b  \\0  \\0\n'],
    ['truncate -s 1G f; stat -c %s f', '1073741824\n'],
  ])('%s', async (script, stdout) => {
    expect(await run(script)).toEqual({ stdout, stderr: '', exitCode: 0 });
  });

  it.each([
    ['truncate -s 2G f', 'truncate: f: No space left on device\n'],
    ['fallocate -l 2G /data/f', 'fallocate: /data/f: No space left on device\n'],
    ['truncate -s 99999999G /data/f', 'truncate: /data/f: File too large\n'],
    ['truncate -s 1 /data', 'truncate: /data: Is a directory\n'],
    ['truncate -s 1 /dev/null', 'truncate: /dev/null: Invalid argument\n'],
    ['truncate -s 5G /data/f; cat /data/f', 'cat: /data/f: Cannot allocate memory\n'],
  ])('%s fails', async (script, stderr) => {
    expect(await run(script)).toEqual({ stdout: '', stderr, exitCode: 1 });
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { runShell } from '../testing/run-shell';

describe('what a container sees of its machine', () => {
  const sh = (script: string, hostPath?: string) =>
    runShell(['sh', '-c', script], {
      kind: 'busybox',
      mounts: hostPath === undefined ? [] : [{ containerPath: '/data', hostPath, readonly: false }],
    });

  it('free tells the memory of the whole machine, which is partly used', async () => {
    const { stdout } = await sh('free -b');
    const [, total = 0, used = 0] = (/^Mem:.*$/m.exec(stdout)?.[0] ?? '').split(/\s+/).map(Number);
    expect(Math.abs(total - totalmem())).toBeLessThan(1024 ** 2);
    expect(used).toBeGreaterThan(0);
    expect(used).toBeLessThan(total);
    expect((await sh('free -h')).stdout).toMatch(/^Mem: .*\d\.\d[GM] .*\nSwap:/m);
  });

  it('df tells of the disks on which the files lie', async () => {
    const disk = mkdtempSync(join(tmpdir(), 'df-'));
    try {
      const { stdout } = await sh('df -h /data; df -k / | tail -1', disk);
      expect(stdout).toMatch(
        /^Filesystem .*Size .*\n\/dev\/vda1 +[\d.]+[KMGT].*% \/data\noverlay +[1-9]\d+ +[1-9]\d+ .*% \/\n$/,
      );
      expect(await sh('df /nowhere')).toMatchObject({
        stderr: 'df: /nowhere: No such file or directory\n',
        exitCode: 1,
      });
    } finally {
      rmSync(disk, { recursive: true });
    }
  });

  it.each([
    ['ulimit -n', /^1048576\n$/],
    ['ulimit', /^unlimited\n$/],
    ['ulimit -a', /^nofiles +1048576$/m],
    ['ulimit -n 1024', /^$/],
    ['cat /proc/loadavg', /^\d+\.\d\d \d+\.\d\d \d+\.\d\d 1\/\d+ \d+\n$/],
    ['cat /sys/fs/cgroup/cpu.stat', /^usage_usec \d+$/m],
    ['cat /sys/fs/cgroup/memory.stat', /^anon \d+$/m],
    ['sleep 9 & sleep 9 & pidof -s sleep; kill %1 %2', /^\d+\n$/],
  ])('%s', async (script, expected) => {
    expect((await sh(script)).stdout).toMatch(expected);
  });
});

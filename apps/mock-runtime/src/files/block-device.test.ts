import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runShell } from '../testing/run-shell';

describe('a block device in a container', () => {
  let directory: string;
  let hostPath: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'block-'));
    hostPath = join(directory, 'disk');
    writeFileSync(hostPath, '');
    truncateSync(hostPath, 4096);
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const run = (script: string, readonly = false) =>
    runShell(['sh', '-c', script], {
      kind: 'busybox',
      mounts: [{ containerPath: '/dev/xvda', hostPath, readonly, isDevice: true }],
    });

  it('looks like one', async () => {
    const { stdout } = await run('test -b /dev/xvda && echo block; ls -l /dev/xvda | cut -c1-10; ls /dev');
    expect(stdout).toMatch(/^block\nbrw-rw----\n[^]*xvda/);
  });

  it('keeps its size and what is not written over, whoever opens it to write', async () => {
    const { stdout } = await run(
      'echo first line > /dev/xvda; printf FIR > /dev/xvda; head -n 1 /dev/xvda; dd if=/dev/xvda bs=5 count=1 2>/dev/null; wc -c < /dev/xvda | tr -d " "',
    );
    expect(stdout).toBe('FIRst line\nFIRst4096\n');
    expect(statSync(hostPath).size).toBe(4096);
    expect(readFileSync(hostPath).subarray(0, 10).toString()).toBe('FIRst line');
  });

  it('is full at its end', async () => {
    const { stdout, stderr } = await run('dd if=/dev/zero of=/dev/xvda bs=1024 count=5; echo $?');
    expect(stderr).toContain('No space left on device');
    expect(stdout).toBe('1\n');
    expect(statSync(hostPath).size).toBe(4096);
  });

  it('is not written where it may only be read', async () => {
    const { stdout, stderr } = await run('echo x > /dev/xvda; echo $?', true);
    expect([stdout, stderr]).toEqual(['1\n', "sh: can't create /dev/xvda: Operation not permitted\n"]);
  });
});

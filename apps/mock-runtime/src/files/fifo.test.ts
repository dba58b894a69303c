import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runShell } from '../testing/run-shell';

const sh = (script: string, hostPath?: string) =>
  runShell(['sh', '-c', script], {
    kind: 'debian',
    mounts: hostPath === undefined ? [] : [{ containerPath: '/data', hostPath, readonly: false }],
  });

describe('named pipes', () => {
  let disk: string;
  beforeAll(() => {
    disk = mkdtempSync(join(tmpdir(), 'fifo-'));
  });
  afterAll(() => rmSync(disk, { recursive: true }));

  it.each([
    ['a writer waits for a reader', 'mkfifo p; echo hi > p & cat p; wait', 'hi\n'],
    ['a reader waits for a writer', 'mkfifo p; cat p & sleep 0.05; echo hi > p; wait', 'hi\n'],
    [
      'a reader sees the end',
      'mkfifo p; (echo a; echo b) > p & while read x; do echo "[$x]"; done < p',
      '[a]\n[b]\n',
    ],
    [
      'held open by both ends',
      'mkfifo p; exec 3<>p; echo one >&3; echo two >&3; read a <&3; read b <&3; echo $a $b',
      'one two\n',
    ],
    [
      'ls and test know it',
      'mkfifo -m 600 p; ls -l p | cut -c1-10; [ -p p ] && echo yes; [ -f p ] || echo no',
      'prw-------\nyes\nno\n',
    ],
    ['rm removes it', 'mkfifo p; rm p; ls', ''],
  ])('%s', async (_, script, expected) => {
    expect(await sh(script)).toEqual({ stdout: expected, stderr: '', exitCode: 0 });
  });

  it('is not made where something is', async () => {
    const { stderr, exitCode } = await sh('touch p; mkfifo p');
    expect([stderr, exitCode]).toEqual(["mkfifo: cannot create fifo 'p': File exists\n", 1]);
  });

  it('on a volume joins the containers that mount it', async () => {
    const [read] = await Promise.all([
      sh('while [ ! -p /data/p ]; do sleep 0.01; done; cat /data/p', disk),
      sh('mkfifo /data/p; echo hi > /data/p', disk),
    ]);
    expect(read.stdout).toBe('hi\n');
    expect(statSync(join(disk, 'p')).isFIFO()).toBe(true);
  });
});

it('opens no device of the machine, which could give or take for ever', async () => {
  const { stderr, exitCode } = await sh('cat /data/zero', '/dev');
  expect([stderr, exitCode]).toEqual(['cat: /data/zero: Operation not permitted\n', 1]);
  expect((await sh('echo x > /data/full', '/dev')).exitCode).toBe(1);
});

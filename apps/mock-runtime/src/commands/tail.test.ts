import { runShell } from '../testing/run-shell';

describe('tail -F', () => {
  it.each([
    [
      'busybox',
      "tail: can't open 'log': No such file or directory\ntail: /work/log has appeared; following end of new file\n",
    ],
    [
      'debian',
      "tail: cannot open 'log' for reading: No such file or directory\ntail: '/work/log' has appeared;  following new file\n",
    ],
  ] as const)('waits for a file that is not there yet, on %s', async (kind, stderr) => {
    const script = `tail -F log > out 2> err & while [ ! -s err ]; do sleep 0.02; done; echo one > log
      while ! grep -q one out; do sleep 0.05; done; echo two >> log
      while ! grep -q two out; do sleep 0.05; done; kill $!; cat out; cat err >&2`;
    expect(await runShell(['sh', '-c', script], { kind })).toMatchObject({ stdout: 'one\ntwo\n', stderr });
  });
});

import { runShell } from '../testing/run-shell';

describe('sh -c with one plain command', () => {
  // The shell's own process becomes the command, so that this sees itself as PID 1.
  it.each([
    ['a name', 'ps'],
    ['an absolute path', '/bin/ps'],
    ['blanks around it', '  ps  '],
    ['quoted words', 'ps "a b" \'c;d\''],
    ['an option with a value', 'ps --sort=pid'],
  ])('is that command: %s', async (_, script) => {
    const { stdout } = await runShell(['sh', '-c', script], { kind: 'debian' });
    expect(stdout).toMatch(/^ +1 root .* (?:\/bin\/)?ps/m);
  });

  it.each([['echo $((1 + 1))'], ['true && ps'], ['ps; true'], ['ps "$HOME"'], ['X=1 ps']])(
    'and else is a shell: %s',
    async (script) => {
      const { stdout } = await runShell(['sh', '-c', script], { kind: 'debian' });
      expect(stdout).not.toMatch(/^ +1 root .* \d ps/m);
      if (script.includes('ps')) expect(stdout).toMatch(/^ +1 root .* sh -c/m);
    },
  );

  it('keeps words with quotes together', async () => {
    expect((await runShell(['sh', '-c', "/bin/printf '%s|' 'a b' c"], { kind: 'debian' })).stdout).toBe(
      'a b|c|',
    );
  });
});

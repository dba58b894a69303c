import { runShell } from '../testing/run-shell';

const sh = (script: string) => runShell(['sh', '-c', script], { kind: 'debian' });

describe('bytes', () => {
  // What GNU coreutils print of the same.
  it.each([
    ['printf writes bytes', "printf '\\342\\202\\254\\n' | od -An -tx1", ' e2 82 ac 0a\n'],
    ['echo -e too', "echo -en '\\xff\\0101' | od -An -tx1", ' ff 41\n'],
    ['text stays what it is', "printf '€😀%s' ü | od -An -tx1", ' e2 82 ac f0 9f 98 80 c3 bc\n'],
    ['od -tx1 with addresses', 'printf "hello\\n" | od -tx1', '0000000 68 65 6c 6c 6f 0a\n0000006\n'],
    ['od -t x1 in two words', 'printf a | od -A x -t x1', '000000 61\n000001\n'],
    ['od -c', 'printf "a b\\n\\t\\342" | od -c', '0000000   a       b  \\n  \\t 342\n0000006\n'],
    ['od alone shows octal words', 'printf abc | od', '0000000 061141 000143\n0000003\n'],
    ['od -An -tu4', "printf '\\001\\0\\0\\0' | od -An -tu4", '          1\n'],
    ['od -td1', "printf '\\377\\001' | od -An -td1", '   -1    1\n'],
    ['od -x', 'printf abcd | od -x', '0000000 6261 6463\n0000004\n'],
    ['od -N and -j', 'printf abcdef | od -An -c -j 2 -N 3', '   c   d   e\n'],
    [
      'od says * for lines like the last',
      'head -c 64 /dev/zero | od -tx1',
      `0000000${' 00'.repeat(16)}\n*\n0000100\n`,
    ],
    ['od -tx1z', 'printf "ab\\n" | od -tx1z', `0000000 61 62 0a${' '.repeat(39)}  >ab.<\n0000003\n`],
  ])('%s', async (_, script, expected) => {
    expect(await sh(script)).toEqual({ stdout: expected, stderr: '', exitCode: 0 });
  });

  it.each([
    ['-w0 -tx1', "invalid width argument '0'"],
    ['-tx0', "invalid type string 'x0'"],
    ['-tx3', "invalid type string 'x3'"],
  ])('od refuses %s, which would never end', async (options, message) => {
    expect(await sh(`echo a | od ${options}`)).toEqual({
      stdout: '',
      stderr: `od: ${message}\n`,
      exitCode: 1,
    });
  });
});

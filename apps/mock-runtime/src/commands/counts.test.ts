import { runShell } from '../testing/run-shell';

describe('wc', () => {
  const run = async (script: string) =>
    (await runShell(['sh', '-c', script], { kind: 'debian' })).stdout.trim().split(/\s+/);

  it.each([
    ["printf 'one two\\nthree' | wc", ['1', '3', '13']],
    ["printf ' \\t\\n' | wc", ['1', '0', '3']],
    ["printf 'größe €' | wc -mwc", ['2', '7', '11']],
    ['printf abc > f; printf d > g; wc -c f g', ['3', 'f', '1', 'g', '4', 'total']],
  ])('%s', async (script, words) => {
    expect(await run(script)).toEqual(words);
  });

  it('counts words and characters that lie in two pieces once', async () => {
    const script = "printf 'word €' > f; dd if=f bs=1 status=none | wc -wm";
    expect(await run(script)).toEqual(['2', '6']);
  });

  it('counts what is far more than a piece', async () => {
    expect(await run('head -c 3000000 /dev/zero | wc -c')).toEqual(['3000000']);
  });
});

import { runShell } from '../testing/run-shell';

const diff = (script: string) => runShell(['sh', '-c', script], { kind: 'debian' });

describe('diff', () => {
  it('shows what has changed, and nothing else', async () => {
    const { stdout, exitCode } = await diff('seq 9 > a; sed s/5/five/ a > b; diff a b');
    expect({ stdout, exitCode }).toEqual({ stdout: '5c5\n< 5\n---\n> five\n', exitCode: 1 });
  });

  it('takes all that lies between for one change where there is too much to compare', async () => {
    const script = '(echo head; seq 1 3000; echo tail) > a; (echo head; seq 2 3001; echo tail) > b; diff a b';
    const lines = (await diff(script)).stdout.split('\n');
    expect(lines[0]).toBe('2,3001c2,3001');
    expect(lines).toHaveLength(1 + 3000 + 1 + 3000 + 1);
  });
});

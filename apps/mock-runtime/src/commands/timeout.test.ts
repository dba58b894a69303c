import { runShell } from '../testing/run-shell';

describe('timeout', () => {
  it.each([
    ['debian', 'timeout 60 sh -c "exit 3"', 3],
    ['debian', 'timeout 0.05 sleep 600', 124],
    ['busybox', 'timeout 0.05 sleep 600', 143],
    ['debian', 'timeout -s KILL 0.05 sleep 600', 137],
  ] as const)('in %s: `%s` ends with %i', async (kind, script, exitCode) => {
    expect((await runShell(['sh', '-c', script], { kind })).exitCode).toBe(exitCode);
  });
});

import { runShell } from '../testing/run-shell';

const run = (script: string) => runShell(['sh', '-c', script], { kind: 'busybox' });
const hosts = 'printf "127.0.0.1\\tlocalhost\\n10.0.0.2\\tbox.team.example\\tbox\\n" > /etc/hosts';

it.each([
  ['hostname', 'box\n'],
  ['hostname -f', 'box.team.example\n'],
  ['hostname --fqdn', 'box.team.example\n'],
  ['hostname -d', 'team.example\n'],
  ['hostname -s', 'box\n'],
])('%s tells of the name that /etc/hosts has', async (command, expected) => {
  expect((await run(`${hosts}; ${command}`)).stdout).toBe(expected);
});

it('has no other name where /etc/hosts has none', async () => {
  expect((await run('echo > /etc/hosts; hostname -f; hostname -d')).stdout).toBe('box\n\n');
});

it('sysctl knows what the Pod has set only', async () => {
  const { stderr, exitCode } = await run('sysctl kernel.nothing');
  expect(stderr).toBe("sysctl: error: 'kernel.nothing' is an unknown key\n");
  expect(exitCode).toBe(1);
});

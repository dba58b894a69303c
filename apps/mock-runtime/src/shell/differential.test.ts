import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runShell, type ShellOutcome } from '../testing/run-shell';
import { ashScripts, bashScripts, posixScripts } from './scripts';

/** Real processes take most of the time, and little of this one's. */
const scriptsAtOnce = 4;

const stdin = 'first line\none two three four\n';

/** Whether the machine has this shell at all. */
const runs = ([file = '', ...args]: readonly string[]): boolean =>
  spawnSync(file, [...args, '-c', 'true']).status === 0;

/** In a new directory, whose path is shown as the container's. */
function runReal([file = '', ...args]: readonly string[], script: string): Promise<ShellOutcome> {
  const cwd = mkdtempSync(join(tmpdir(), 'shell-'));
  const env = { PATH: '/bin:/usr/bin', HOME: '/root', LC_ALL: 'C' };
  const child = spawn(file, [...args, '-c', script], { cwd, env });
  const outcome = { stdout: '', stderr: '', exitCode: 0 };
  child.stdout.on('data', (data: Buffer) => (outcome.stdout += data.toString()));
  child.stderr.on('data', (data: Buffer) => (outcome.stderr += data.toString()));
  child.stdin.on('error', () => undefined);
  child.stdin.end(stdin);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      rmSync(cwd, { recursive: true });
      const inContainer = (text: string) => text.replaceAll(cwd, '/work');
      resolve({
        stdout: inContainer(outcome.stdout),
        stderr: inContainer(outcome.stderr),
        exitCode: code ?? -1,
      });
    });
  });
}

/** Process ids differ from run to run. */
const comparable = ({ stdout, stderr, exitCode }: ShellOutcome): ShellOutcome => ({
  stdout,
  stderr: stderr.replace(/ +\d+ (Killed|Terminated)/g, ' PID $1'),
  exitCode,
});

const shells = [
  {
    name: 'busybox sh',
    command: ['busybox', 'sh'],
    own: { argv: ['sh'], kind: 'busybox' },
    scripts: { ...posixScripts, ash: ashScripts },
  },
  {
    name: 'bash',
    // With a socket as its input, as Node gives it, bash would read this machine's ~/.bashrc.
    command: ['bash', '--norc'],
    own: { argv: ['bash'], kind: 'debian' },
    scripts: { ...posixScripts, bash: bashScripts },
  },
] as const;

// Without a shell to compare with there is nothing to tell.
describe.each(shells)('a container beside the real $name', ({ command, own, scripts }) => {
  (runs(command) ? it : it.skip).each(Object.entries(scripts))(
    'prints the same and ends the same: %s',
    async (_area, list) => {
      const differences: object[] = [];
      const compare = async (script: string) => {
        const [real, emulated] = await Promise.all([
          runReal(command, script),
          runShell([...own.argv, '-c', script], { kind: own.kind, stdin }),
        ]);
        const [expected, received] = [comparable(real), comparable(emulated)];
        if (JSON.stringify(expected) !== JSON.stringify(received))
          differences.push({ script, expected, received });
      };
      const waiting = list.values();
      const compareThoseLeft = async () => {
        for (const script of waiting) await compare(script);
      };
      await Promise.all(Array.from({ length: scriptsAtOnce }, compareThoseLeft));
      expect(differences).toEqual([]);
    },
  );
});

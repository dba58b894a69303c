import { runShell } from '../testing/run-shell';

const user = { uid: 1000, gid: 3000, groups: [2000] };
const run = (script: string) => runShell(['sh', '-c', script], { kind: 'busybox', user });

describe('the files of a container, to a user that is not root', () => {
  it.each([
    ['touch /x', 'touch: /x: Permission denied'],
    ['echo x > /etc/passwd', "sh: can't create /etc/passwd: Permission denied"],
    ['mkdir /data', "mkdir: can't create directory '/data': Permission denied"],
    ['rm -f /etc/passwd', "rm: can't remove '/etc/passwd': Permission denied"],
    ['rmdir /home', "rmdir: '/home': Permission denied"],
    ['mv /etc/passwd /tmp/p', "mv: can't rename '/etc/passwd': Permission denied"],
    ['ls /root', "ls: can't open '/root': Permission denied"],
    ['cat /root/file', "cat: can't open '/root/file': Permission denied"],
    ['chmod 777 /etc/passwd', 'chmod: /etc/passwd: Operation not permitted'],
    ['chown 1000 /etc/passwd', 'chown: /etc/passwd: Operation not permitted'],
    ['ln -s /etc /link', 'ln: /link: Permission denied'],
  ])('are refused: %s', async (script, message) => {
    expect(await run(script)).toEqual({ stdout: '', stderr: `${message}\n`, exitCode: 1 });
  });

  it('can be made, changed and removed where it owns the directory, or everybody may', async () => {
    const script =
      'cd /tmp && mkdir d && echo x > d/f && chmod 600 d/f && mv d/f d/g && cat d/g && ls -ln d | tail -n 1 && rm -r d && ls';
    const { stdout, exitCode } = await run(script);
    expect([stdout, exitCode]).toEqual([expect.stringMatching(/^x\n-rw------- +1 1000 +3000 +2 .* g\n$/), 0]);
  });

  it('show their special bits', async () => {
    const { stdout } = await run('cd /tmp; mkdir d; chmod 2750 d; ls -ld . d | cut -c1-10');
    expect(stdout).toBe('drwxrwxrwt\ndrwxr-s---\n');
  });

  it('can be read, and run, as their modes say', async () => {
    const { stdout } = await run(
      'head -n 1 /etc/passwd | cut -c1-4; ls / | head -n 1; echo x > /dev/null && echo ok',
    );
    expect(stdout).toBe('root\nbin\nok\n');
  });
});

import { startTestRuntime, type StartedPod, type TestRuntime } from '../testing/start-runtime';

describe('sh', () => {
  let node: TestRuntime;
  let pod: StartedPod;

  beforeAll(async () => {
    node = await startTestRuntime();
    pod = await node.startPod({
      name: 'shell',
      image: 'busybox',
      command: ['sleep', '3600'],
      container: { envs: [{ key: 'GREETING', value: Buffer.from('hello') }] },
    });
  });
  afterAll(() => node.stop());

  const cases: [name: string, script: string, output: string, exitCode?: number][] = [
    ['expands variables and quotes', 'x="a  b"; echo $x "$x" \'$x\' $GREETING', 'a b a  b $x hello\n'],
    [
      'has defaults, lengths and patterns',
      'f=/a/b.tar.gz; echo ${u:-none} ${#f} ${f##*/} ${f%.gz} ${f%%.*}',
      'none 11 b.tar.gz /a/b.tar /a/b\n',
    ],
    ['does arithmetic', 'i=3; echo $((i * 2 + 1)) $((i++)) $i $((7 / 2)) $((2 > 1 && 0))', '7 3 4 3 0\n'],
    [
      'runs if, for, while, until, case',
      'for i in 1 2 3; do if [ $i -eq 2 ]; then continue; fi; echo $i; done; n=0; while [ $n -lt 2 ]; do n=$((n+1)); done; case $n in 1) echo one;; 2|3) echo two;; esac',
      '1\n3\ntwo\n',
    ],
    [
      'calls functions with their own arguments',
      'f() { local x=$1; echo "$x $#"; return 3; }; f a b; echo $?',
      'a 2\n3\n',
    ],
    [
      'follows a script on stdin command by command, here-documents and what commands read included',
      'printf \'cat <<END\\nin it\\nEND\\nif true; then\\necho yes\\nfi\\nread line\\nthe next line\\necho "<$line>"\\nexit 4\\n\' | sh',
      'in it\nyes\n<the next line>\n',
      4,
    ],
    [
      'runs what has come in on stdin before its end',
      '(echo "echo early"; sleep 0.2; echo "echo late") | sh | while read word; do echo "$word"; done',
      'early\nlate\n',
    ],
    ['substitutes commands', 'echo "<$(echo a; echo b)>" `echo c`', '<a\nb> c\n'],
    ['pipes between processes', 'seq 1 5 | grep -v 3 | sort -r | head -n 2', '5\n4\n'],
    ['ends an endless writer when its reader has gone', 'while true; do echo y; done | head -n 2', 'y\ny\n'],
    [
      'redirects',
      'cd /tmp; echo one > f; echo two >> f; cat < f; ls nope 2>&1 >/dev/null | wc -l; cat f | tr a-z A-Z',
      'one\ntwo\n1\nONE\nTWO\n',
    ],
    ['reads here-documents', 'x=1; cat <<EOF\nv $x\nEOF\ncat <<"EOF"\nv $x\nEOF', 'v 1\nv $x\n'],
    ['stops at the first failure with set -e', 'set -e; false || true; echo on; false; echo off', 'on\n', 1],
    [
      'runs and awaits background jobs',
      '(sleep 0.05; echo late) & echo early; wait; echo done',
      'early\nlate\ndone\n',
    ],
    [
      'traps signals and exit',
      'trap "echo bye" EXIT; trap "echo term" TERM; kill -TERM $$; echo after',
      'term\nafter\nbye\n',
    ],
    [
      'cannot kill the first process of its container',
      'kill -9 1; echo $?; kill -0 1 && echo alive',
      '0\nalive\n',
    ],
    ['gives 127 for an unknown command', 'nope', 'sh: nope: not found\n', 127],
    [
      'gives 126 for a file that is not executable',
      'echo x > /tmp/x; /tmp/x',
      'sh: /tmp/x: Permission denied\n',
      126,
    ],
    [
      'runs scripts by their first line',
      'printf "#!/bin/sh\\necho script \\$1\\n" > /tmp/s; chmod +x /tmp/s; /tmp/s arg',
      'script arg\n',
    ],
    [
      'reads lines in a loop',
      'printf "a 1\\nb 2\\n" | while read name n; do echo "$n:$name"; done',
      '1:a\n2:b\n',
    ],
    [
      'expands file names',
      'mkdir -p /tmp/g; cd /tmp/g; touch b.txt a.txt c.md; echo *.txt *.none',
      'a.txt b.txt *.none\n',
    ],
    ['kills background jobs', 'sleep 100 & kill $!; wait $!; echo $?', '143\nTerminated\n'],
    [
      'follows a file that grows with tail -f',
      'echo one > /tmp/t; tail -f /tmp/t > /tmp/o & p=$!; until grep -q one /tmp/o; do :; done; echo two >> /tmp/t; until grep -q two /tmp/o; do :; done; kill $p; cat /tmp/o',
      'one\ntwo\n',
    ],
    ['runs awk, sed and jq', 'echo "a b" | awk \'{print $2}\'; echo hello | sed s/l/L/g', 'b\nheLLo\n'],
    [
      'keeps the arguments of "$@"',
      'set -- "a b" c; for x in "$@"; do echo "[$x]"; done; shift; echo $#',
      '[a b]\n[c]\n1\n',
    ],
    ['reports syntax errors with 2', 'if true; echo x', expect.stringContaining('syntax error') as never, 2],
  ];
  it.each(cases)('%s', async (_name, script, output, exitCode = 0) => {
    expect(await node.sh(pod, script)).toEqual({ output, exitCode });
  });

  it('shows itself in ps', async () => {
    const { output } = await node.sh(pod, 'ps');
    expect(output).toMatch(/1 root +\d+:\d\d sleep 3600\n/);
  });

  it('reports its user, its host name and its files', async () => {
    const { output } = await node.sh(
      pod,
      'id; hostname; cat /etc/hostname; ls -d /proc/1; test -d /etc && echo etc',
    );
    expect(output).toBe('uid=0(root) gid=0(root) groups=0(root)\nshell\nshell\n/proc/1\netc\n');
  });

  it('lets other containers run beside a busy loop', async () => {
    const busy = await node.startPod({
      name: 'busy',
      image: 'busybox',
      command: ['sh', '-c', 'while :; do :; done'],
    });
    // It never ends: who had to wait for it would wait for ever.
    expect((await node.sh(pod, 'echo ok')).output).toBe('ok\n');
    await node.runtime.stopContainer({ containerId: busy.containerId, timeout: 0 });
  });
});

import { spawn, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { useCluster } from '../../harness/cluster-fixture';
import { transcript } from '../../harness/clients';

/** Shell scripts in containers, as kubectl shows what they print and end with. */
const fixture = useCluster(['--nodes=1', '--ephemeral']);
const { run, attempt, apply, read, until } = fixture;
const children: ChildProcess[] = [];
afterAll(() => children.forEach((child) => child.kill('SIGKILL')));

const pod = (name: string, script: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 30,
    containers: [{ name: 'main', image: 'busybox', command: ['sh', '-c', script] }],
    ...spec,
  },
});
const ready = (name: string) => run(`wait --for=condition=Ready pod/${name} --timeout=120s`);
const exec = (script: string, input?: string) =>
  attempt(['exec', ...(input === undefined ? [] : ['-i']), 'host', '--', 'sh', '-c', script], input);

beforeAll(async () => {
  await apply(pod('host', 'sleep 3600'));
  await ready('host');
});

it.each([
  ['pipes end with their reader', 'while true; do echo y; done | head -n 2', 'y\ny\n'],
  ['background jobs', 'sleep 0.1 & p=$!; kill -0 $p && echo runs; wait $p; echo $?', 'runs\n0\n'],
  ['wait and exit codes', '(exit 3) & wait $!; echo $?', '3\n'],
  ['kill', 'sleep 60 & kill $!; wait $! 2>/dev/null; echo $?', '143\n'],
  ['trap', "trap 'echo bye' EXIT; trap 'echo usr' USR1; kill -USR1 $$; echo on", 'usr\non\nbye\n'],
  ['here-documents', 'x=1; cat <<END\nis $((x+1))\nEND', 'is 2\n'],
  ['functions', 'twice() { local n=$1; echo $((n * 2)); return 4; }; twice 21; echo $?', '42\n4\n'],
  ['arithmetic', 'i=0; while [ $i -lt 3 ]; do i=$((i+1)); done; echo $((i << 2)) $((7 % 4))', '12 3\n'],
  ['case, test and globs', 'cd /etc; case x.sh in *.sh) ls host*;; esac', 'hostname\nhosts\n'],
  ['substitution', 'v=a-b-c; echo ${v%%-*} ${v#*-} ${#v} ${none:-else} $(echo in)', 'a b-c 5 else in\n'],
  ['files', 'cd /tmp; echo 2 > f; echo 1 >> f; sort f | tee g | wc -l; cat g', '2\n1\n2\n'],
  ['id', 'id -u; id -un; whoami', '0\nroot\nroot\n'],
  ['xargs, sed, awk', 'seq 3 | sed s/2/two/ | awk \'{print NR":"$1}\' | xargs echo', '1:1 2:two 3:3\n'],
])('%s', async (_name, script, expected) => {
  expect(await exec(script)).toEqual({ code: 0, stdout: expected, stderr: '' });
});

it.each([
  ['set -e ends at the first failure', 'set -e; echo a; false; echo b', 1, 'a\n', ''],
  ['exit', 'exit 42', 42, '', ''],
  ['a command that is not there', 'nothing', 127, '', 'sh: nothing: not found\n'],
  ['a signal that cannot be caught', 'kill -9 $$', 137, '', ''],
  ['a signal that was not caught', 'kill -TERM $$', 143, '', ''],
])('%s', async (_name, script, code, stdout, stderr) => {
  const result = await exec(script);
  expect([result.code, result.stdout]).toEqual([code, stdout]);
  expect(result.stderr).toBe(`${stderr}command terminated with exit code ${code}\n`);
});

it('reads its input to the end', async () => {
  expect((await exec('n=0; while read -r l; do n=$((n+1)); done; echo $n', 'a\nb\nc\n')).stdout).toBe('3\n');
});

it.each([
  [
    'follows a file',
    'cd /tmp; touch t; tail -f t > out & echo one >> t; until grep -q one out; do sleep 0.1; done; kill $!; cat out',
    'one\n',
  ],
  ['sees processes', "sleep 77 & ps | grep -c ' sleep 77$'; kill $!", '1\n'],
  [
    'serves and fetches a page',
    'cd /tmp; echo page > index.html; httpd -f -p 8080 & until wget -qO- localhost:8080; do sleep 0.1; done; kill $!',
    'page\n',
  ],
])('%s', async (_name, script, expected) => {
  expect((await exec(script)).stdout).toBe(expected);
});

it('a loop that never rests stops no other container', async () => {
  await apply(pod('busy', 'while true; do :; done'));
  await ready('busy');
  expect((await exec('echo alive')).stdout).toBe('alive\n');
  await apply(pod('beside', 'echo done'));
  await until(async () => expect(await read('pod/beside', '{.status.phase}')).toBe('Succeeded'));
  await run('delete pod busy --now');
});

it.each([
  ['by its trap', "trap 'exit 5' TERM; while true; do sleep 0.1; done", 30, 5],
  ['by force, where it takes no notice', 'exec sleep 3600', 1, 137],
])('a container that is to stop ends %s', async (name, script, grace, exitCode) => {
  // The finalizer keeps the Pod to be looked at.
  const object = pod(`stops-${exitCode}`, script, { terminationGracePeriodSeconds: grace });
  await apply({ ...object, metadata: { ...object.metadata, finalizers: ['example.com/look'] } });
  await ready(`stops-${exitCode}`);
  await run(`delete pod stops-${exitCode} --wait=false`);
  const code = '{.status.containerStatuses[0].state.terminated.exitCode}';
  await until(async () => expect(await read(`pod/stops-${exitCode}`, code)).toBe(String(exitCode)));
  await run(['patch', 'pod', `stops-${exitCode}`, '--type=merge', '-p', '{"metadata":{"finalizers":null}}']);
});

const onLinux = process.platform === 'linux' ? it : it.skip;
onLinux('a terminal tells its size, and when it changes', async () => {
  // util-linux's script opens a real terminal for kubectl; stty sets its size, the second time when the file is there.
  const go = join(fixture.cluster.dataDir, 'go');
  const later = `(until test -e ${go}; do sleep 0.1; done; stty rows 33 cols 99 < /dev/tty) &`;
  const inside = 'while true; do stty size; sleep 0.1; done';
  const command = `stty rows 20 cols 70; ${later} '${fixture.kubectl.path}' exec -it host -- sh -c '${inside}'`;
  const child = spawn('script', ['-qefc', command, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, KUBECONFIG: fixture.cluster.kubeconfig, TERM: 'dumb', SHELL: '/bin/sh' },
  });
  children.push(child);
  const seen = transcript(child);
  await seen.until('20 70');
  writeFileSync(go, '');
  await seen.until('33 99');
});

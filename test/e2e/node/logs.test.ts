import type { ChildProcess } from 'node:child_process';
import { useCluster } from '../../harness/cluster-fixture';
import { transcript } from '../../harness/clients';

/** `kubectl logs` in all its ways. */
const fixture = useCluster(['--nodes=1', '--ephemeral']);
const { run, attempt, apply, read, until } = fixture;
const children: ChildProcess[] = [];
afterAll(() => children.forEach((child) => child.kill('SIGKILL')));

const container = (name: string, command: string) => ({
  name,
  image: 'busybox',
  command: ['sh', '-c', command],
});
const pod = (name: string, spec: object) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: 'talks' } },
  spec: { terminationGracePeriodSeconds: 0, ...spec },
});

beforeAll(async () => {
  const volumeMounts = [{ name: 'marks', mountPath: '/marks' }];
  const once = 'echo run $(ls /marks | wc -l); mkdir /marks/x 2>/dev/null && exit 3; sleep 3600';
  await apply(
    pod('many', {
      initContainers: [container('before', 'echo from before')],
      containers: [
        container('lines', 'for i in 1 2 3 4 5; do echo line $i; done; echo oops >&2; sleep 3600'),
        { ...container('twice', once), volumeMounts },
      ],
      volumes: [{ name: 'marks', emptyDir: {} }],
    }),
    pod('other', { restartPolicy: 'Never', containers: [container('main', 'printf "no newline"')] }),
    pod('stuck', {
      containers: [
        { name: 'absent', image: 'nowhere/absent' },
        { name: 'unread', image: 'UPPER//case' },
      ],
    }),
  );
  await run('wait --for=condition=Ready pod/many --timeout=120s');
  await run('wait --for=jsonpath={.status.phase}=Succeeded pod/other --timeout=120s');
  await until(async () => {
    const counts = '{.status.containerStatuses[?(@.name=="twice")].restartCount}';
    expect(await read('pod/many', counts)).toBe('1');
    expect(await run('logs many -c twice')).toBe('run 1\n');
  });
});

const lines = (...numbers: number[]) => numbers.map((i) => `line ${i}\n`).join('');

it.each([
  ['', `${lines(1, 2, 3, 4, 5)}oops\n`],
  ['--tail=2', `${lines(5)}oops\n`],
  ['--tail=0', ''],
  ['--tail=-1', `${lines(1, 2, 3, 4, 5)}oops\n`],
  ['--limit-bytes=9', `${lines(1)}li`],
  ['--since=1h', `${lines(1, 2, 3, 4, 5)}oops\n`],
  ['--since-time=2020-01-01T00:00:00Z --tail=1', 'oops\n'],
  ['--since-time=2100-01-01T00:00:00Z', ''],
])('logs -c lines %s', async (options, expected) => {
  expect(await run(`logs many -c lines ${options}`.trim())).toBe(expected);
});

it('takes the first container where none is named, and says so', async () => {
  const { stdout, stderr } = await attempt('logs many');
  expect(stdout).toContain(lines(1));
  expect(stderr).toBe('Defaulted container "lines" out of: lines, twice, before (init)\n');
});

it('shows times, init containers, earlier runs and a last line without an end', async () => {
  expect(await run('logs many -c lines --timestamps --tail=1')).toMatch(
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z oops\n$/,
  );
  expect(await run('logs many -c before')).toBe('from before\n');
  expect(await run('logs many -c twice --previous')).toBe('run 0\n');
  expect(await run('logs other')).toBe('no newline');
});

it('shows all containers, and of all Pods that a selector finds, each with where it is from', async () => {
  const all = await run('logs many --all-containers');
  for (const line of ['from before', 'line 5', 'run 1']) expect(all).toContain(line);
  const found = await run('logs -l app=talks --prefix --all-containers --ignore-errors --tail=1');
  for (const line of ['[pod/many/lines] oops', '[pod/many/twice] run 1', '[pod/other/main] no newline'])
    expect(found).toContain(line);
});

it('follows line by line as they are written, until the container ends', async () => {
  // Each line waits to be asked for: what is seen before the next one was not held back.
  const loop = 'for i in 1 2 3; do echo part $i; until test -e /tmp/$i; do sleep 0.05; done; done';
  await apply(pod('slow', { restartPolicy: 'Never', containers: [container('main', loop)] }));
  await run('wait --for=condition=Ready pod/slow --timeout=120s');
  const following = fixture.kubectl.spawn(['logs', '-f', 'slow']);
  children.push(following);
  const ended = new Promise((resolve) => following.once('close', resolve));
  const seen = transcript(following);
  for (const i of [1, 2, 3]) {
    await seen.until(`part ${i}\n`);
    expect(seen.text()).not.toContain(`part ${i + 1}`);
    // The last one ends the container, and so perhaps the command that asked for it.
    await attempt(`exec slow -- touch /tmp/${i}`);
  }
  expect(await ended).toBe(0);
  expect(seen.text()).toBe('part 1\npart 2\npart 3\n');
});

it.each([
  ['many -c none', 'error: container none is not valid for pod many'],
  ['nobody', 'error: error from server (NotFound): pods "nobody" not found in namespace "default"'],
  [
    'many -c lines --previous',
    'Error from server (BadRequest): previous terminated container "lines" in pod "many" not found',
  ],
  [
    'stuck -c unread',
    'Error from server (BadRequest): container "unread" in pod "stuck" is waiting to start: InvalidImageName',
  ],
  [
    'many -c lines --since=1h --since-time=2020-01-01T00:00:00Z',
    'error: at most one of `sinceTime` or `sinceSeconds` may be specified',
  ],
])('refuses logs %s', async (args, message) => {
  const { code, stderr } = await attempt(`logs ${args}`);
  expect(code).toBe(1);
  expect(stderr).toBe(`${message}\n`);
});

it('says of an image that cannot be had that it waits for it', async () => {
  await until(async () => {
    const { stderr } = await attempt('logs stuck -c absent');
    expect(stderr).toBe(
      'Error from server (BadRequest): container "absent" in pod "stuck" is waiting to start: trying and failing to pull image\n',
    );
  });
});

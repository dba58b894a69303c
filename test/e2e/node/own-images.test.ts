import { join } from 'node:path';
import { useCluster } from '../../harness/cluster-fixture';

/** Images of one's own, and failures that annotations script. */
const images = join(__dirname, '../../../examples/02-own-images/images.ts');
const { run, apply, read, until } = useCluster(['--nodes=1', '--ephemeral', `--images=${images}`]);

/** `script`: annotations `mock.tinkernetes.dev/NAME`. */
const pod = (name: string, script: Record<string, string>, container: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    annotations: Object.fromEntries(
      Object.entries(script).map(([key, value]) => [`mock.tinkernetes.dev/${key}`, value]),
    ),
  },
  spec: {
    terminationGracePeriodSeconds: 0,
    restartPolicy: 'Never',
    containers: [{ name: 'main', image: 'busybox', command: ['sleep', '3600'], ...container }],
  },
});
const status = (name: string, field: string) =>
  read(`pod/${name}`, `{.status.containerStatuses[0].${field}}`);
const ready = (name: string) => run(`wait --for=condition=Ready pod/${name} --timeout=120s`);
const reads = (name: string, field: string, expected: string | RegExp) =>
  until(async () => expect(await status(name, field)).toMatch(expected));

it('a program of one’s own: its arguments, environment, output, files and exit code', async () => {
  await apply(
    pod(
      'shop',
      {},
      { image: 'acme/shop:1.1', command: undefined, args: ['CHF'], env: [{ name: 'PRICE', value: '4' }] },
    ),
    pod('flaky', {}, { image: 'acme/flaky', command: undefined, args: ['9'] }),
  );
  await ready('shop');
  await until(async () => expect(await run('logs shop')).toContain('order for 4 CHF\n'));
  await until(async () => expect(Number(await run('exec shop -- cat /tmp/earned')) % 4).toBe(0));
  await reads('flaky', 'state.terminated.exitCode', /^9$/);
  expect(await run('logs flaky')).toBe('giving up with 9\n');
});

it('an image that nobody defined is not to be had, unless the Pod says that it is stood in for', async () => {
  const image = { image: 'acme/unknown', command: undefined };
  await apply(pod('unknown', {}, image), pod('stood-in', { 'generic-image': 'true' }, image));
  await reads('unknown', 'state.waiting.reason', /^(ErrImagePull|ImagePullBackOff)$/);
  await ready('stood-in');
});

it('pull-delay and pull-error', async () => {
  await apply(
    pod('slow-pull', { 'pull-delay': '1s' }, { imagePullPolicy: 'Always' }),
    pod('bad-pull', { 'pull-error': 'the registry is on fire' }, { imagePullPolicy: 'Always' }),
  );
  await reads('bad-pull', 'state.waiting.message', /the registry is on fire/);
  await ready('slow-pull');
  const pulled = await read(
    'events --field-selector involvedObject.name=slow-pull,reason=Pulled',
    '{.items[*].message}',
  );
  expect(pulled).toMatch(/Successfully pulled image "busybox" in [1-9]/);
});

it('exit-after, exit-code and oom-after', async () => {
  await apply(
    pod('ends', { 'exit-after': '200ms', 'exit-code': '4' }),
    pod('one-of-two', { 'main.exit-after': '200ms' }),
    pod('oom', { 'oom-after': '200ms' }),
  );
  await reads('ends', 'state.terminated.exitCode', /^4$/);
  await reads('one-of-two', 'state.terminated.reason', /^Completed$/);
  await reads('oom', 'state.terminated.reason', /^OOMKilled$/);
  expect(await status('oom', 'state.terminated.exitCode')).toBe('137');
});

it('crash-times: fails in its first runs', async () => {
  const crashes = pod('crashes', { 'crash-times': '1' });
  await apply({ ...crashes, spec: { ...crashes.spec, restartPolicy: 'Always' } });
  await reads('crashes', 'restartCount', /^1$/);
  await ready('crashes');
  expect(await status('crashes', 'lastState.terminated.exitCode')).toBe('1');
});

it('ready-for and unready-for: answers for a while, and not for a while', async () => {
  const readinessProbe = { exec: { command: ['true'] }, periodSeconds: 1, failureThreshold: 1 };
  const turns = { 'ready-for': '2s', 'unready-for': '2s' };
  await apply(pod('turns', turns, { readinessProbe }));
  for (const expected of ['true', 'false', 'true']) await reads('turns', 'ready', expected);
});

it('log-line and log-interval, cpu and memory', async () => {
  const script = { 'log-line': 'tick', 'log-interval': '50ms', cpu: '250m', memory: '64Mi' };
  await apply(pod('measured', script));
  await ready('measured');
  await until(async () => expect(await run('logs measured')).toMatch(/^tick\ntick\n/));
  const metrics = '/apis/metrics.k8s.io/v1beta1/namespaces/default/pods/measured';
  await until(async () => {
    const { containers } = JSON.parse(await run(`get --raw ${metrics}`)) as {
      containers: { usage: { cpu: string; memory: string } }[];
    };
    expect(containers[0]?.usage.cpu).toMatch(/^250m$|^25\d{7}n$|^249\d{6}n$/);
    expect(containers[0]?.usage.memory).toMatch(/^(65536Ki|64Mi)$/);
  });
});

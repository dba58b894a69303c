import { useCluster } from '../../harness/cluster-fixture';
import { podOf, shell, waits } from '../../harness/pods';

/** What becomes of a container that has ended. */
const { run, apply, read, until } = useCluster(['--nodes=1', '--ephemeral']);

/** Ends with `code` the first time, and then waits: what it has seen is in a volume. */
const once = (name: string, code: number, more: object = {}) =>
  shell(name, `test -e /seen/it || { touch /seen/it; echo first; exit ${code}; }; ${waits()}`, {
    volumeMounts: [{ name: 'seen', mountPath: '/seen' }],
    ...more,
  });
const volumes = [{ name: 'seen', emptyDir: {} }];
const row = async (pod: string) => (await run(`get pod ${pod} --no-headers`)).split(/ +/);
const restarts = (pod: string) => read(`pod/${pod}`, '{.status.containerStatuses[*].restartCount}');

beforeAll(() =>
  apply(
    podOf('crashes', { containers: [shell('main', 'echo last words; exit 2')] }),
    podOf('always', { volumes, containers: [once('main', 0)] }),
    podOf('on-failure', { restartPolicy: 'OnFailure', volumes, containers: [once('main', 7)] }),
    podOf('on-success', { restartPolicy: 'OnFailure', containers: [shell('main', 'exit 0')] }),
    podOf('never', { restartPolicy: 'Never', containers: [shell('main', 'exit 7')] }),
    podOf('ruled', {
      restartPolicy: 'Never',
      volumes,
      containers: [
        once('main', 42, {
          restartPolicy: 'Never',
          restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }],
        }),
        shell('other', waits()),
      ],
    }),
  ),
);

it('restartPolicy Always: starts it again, however it ended, and keeps the log of the run before', async () => {
  await until(async () => expect(await restarts('always')).toBe('1'));
  await run('wait --for=condition=Ready pod/always --timeout=120s');
  const last = '{.status.containerStatuses[0].lastState.terminated.reason}';
  expect(await read('pod/always', last)).toBe('Completed');
  expect(await run('logs always --previous')).toBe('first\n');
  expect(await run('logs always')).toBe('');
  expect((await run('get pod always --no-headers')).trim()).toMatch(
    /^always +1\/1 +Running +1 \(\S+ ago\) +\S+$/,
  );
});

it('restartPolicy OnFailure: starts it again only after a failure', async () => {
  await until(async () => expect(await restarts('on-failure')).toBe('1'));
  await run('wait --for=condition=Ready pod/on-failure --timeout=120s');
  await run('wait --for=jsonpath={.status.phase}=Succeeded pod/on-success --timeout=120s');
  expect(await restarts('on-success')).toBe('0');
});

it('restartPolicy Never: leaves it', async () => {
  await run('wait --for=jsonpath={.status.phase}=Failed pod/never --timeout=120s');
  expect(await restarts('never')).toBe('0');
  expect((await row('never')).slice(1, 4)).toEqual(['0/1', 'Error', '0']);
});

it('a rule of the container: starts it again for its exit code, and the others go on', async () => {
  await until(async () => expect(await restarts('ruled')).toBe('1 0'));
  await run('wait --for=condition=Ready pod/ruled --timeout=120s');
});

it('CrashLoopBackOff: waits longer each time, and says so', async () => {
  await until(async () => {
    const [, ready, status, count] = await row('crashes');
    expect([ready, status]).toEqual(['0/1', 'CrashLoopBackOff']);
    expect(Number(count)).toBeGreaterThan(0);
  });
  const { uid } = JSON.parse(await read('pod/crashes', '{.metadata}')) as { uid: string };
  const place = `main pod=crashes_default(${uid})`;
  await until(async () => {
    const message = await read('pod/crashes', '{.status.containerStatuses[0].state.waiting.message}');
    expect(message.replace(/^back-off (\d+s|\d+m\d+s) /, '')).toBe(`restarting failed container=${place}`);
  });
  expect(await run('logs crashes --previous')).toBe('last words\n');
  const events = await run('events --for pod/crashes');
  expect(events).toMatch(/Normal +Started .*Pod\/crashes +Container started/);
  expect(events).toContain(`Back-off restarting failed container main in pod crashes_default(${uid})`);
  expect(await run('describe pod crashes')).toMatch(
    /Last State: +Terminated\n +Reason: +Error\n +Exit Code: +2\n +Started: .*\n +Finished: .*\n +Ready: +False\n +Restart Count: +\d/,
  );
});

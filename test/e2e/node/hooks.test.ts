import { useCluster } from '../../harness/cluster-fixture';
import { podOf, shell, waits } from '../../harness/pods';

/** What a container does after its start and before its end, and its last words. */
const { run, attempt, apply, read, until } = useCluster(['--nodes=1', '--ephemeral']);

const ready = (pod: string) => run(`wait --for=condition=Ready pod/${pod} --timeout=120s`);
const events = (pod: string) => run(`events --for pod/${pod}`);
const says = (pod: string, text: string | RegExp) =>
  until(async () => expect(await events(pod)).toEqual(expect.stringMatching(text)));
const ended = (pod: string, container: string) =>
  until(async () => {
    const path = `{.status.containerStatuses[?(@.name=="${container}")].state.terminated}`;
    const state = await read(`pod/${pod}`, path);
    expect(state).not.toBe('');
    return JSON.parse(state) as { exitCode: number; reason: string; message?: string };
  });

/** Of the Pod that lives on when the others have ended. */
const asked = async (path: string) =>
  until(async () => expect(await run('logs listener')).toContain(`GET ${path} HTTP/1.1`));

beforeAll(async () => {
  await apply(podOf('listener', { containers: [{ name: 'main', image: 'nginx' }] }));
  await ready('listener');
});

it('postStart and preStop: by a command', async () => {
  const lifecycle = {
    postStart: { exec: { command: ['sh', '-c', 'echo started > /tmp/hook'] } },
    preStop: { exec: { command: ['sh', '-c', 'wget -qO- $LISTENER/pre-stop; exit 0'] } },
  };
  const env = [{ name: 'LISTENER', value: await read('pod/listener', '{.status.podIP}') }];
  await apply(
    podOf('commands', {
      terminationGracePeriodSeconds: 60,
      containers: [shell('main', waits(), { lifecycle, env })],
    }),
  );
  await ready('commands');
  expect(await run('exec commands -- cat /tmp/hook')).toBe('started\n');
  await run('delete pod commands');
  await asked('/pre-stop');
});

it('postStart and preStop: by HTTP, whatever the answer, and by sleeping', async () => {
  const host = await read('pod/listener', '{.status.podIP}');
  const httpGet = (path: string) => ({ httpGet: { host, port: 80, path } });
  const asks = { postStart: httpGet('/after-start'), preStop: httpGet('/before-stop') };
  await apply(
    podOf('asks', {
      terminationGracePeriodSeconds: 60,
      containers: [shell('main', waits(), { lifecycle: asks })],
    }),
    podOf('sleeps', {
      terminationGracePeriodSeconds: 60,
      containers: [
        shell('main', waits(), {
          lifecycle: { postStart: { sleep: { seconds: 1 } }, preStop: { sleep: { seconds: 1 } } },
        }),
      ],
    }),
  );
  await Promise.all(['asks', 'sleeps'].map(ready));
  await asked('/after-start');
  await run('delete pod asks sleeps');
  await asked('/before-stop');
});

it('postStart that fails: the container is killed, and started again', async () => {
  const lifecycle = { postStart: { exec: { command: ['sh', '-c', 'echo bad >&2; exit 9'] } } };
  await apply(podOf('unhooked', { containers: [shell('main', waits(), { lifecycle })] }));
  await says('unhooked', /Warning +FailedPostStartHook +Pod\/unhooked +PostStartHook failed/);
  await says('unhooked', /Normal +Killing +Pod\/unhooked +FailedPostStartHook/);
  await until(async () =>
    expect(Number(await read('pod/unhooked', '{.status.containerStatuses[0].restartCount}'))).toBeGreaterThan(
      0,
    ),
  );
});

it('postStart that hangs: holds up the container, and is given up when the Pod is deleted', async () => {
  const lifecycle = { postStart: { exec: { command: ['sleep', '3600'] } } };
  await apply(podOf('hangs', { containers: [shell('main', waits(), { lifecycle })] }));
  await says('hangs', /Normal +Started +Pod\/hangs/);
  expect((await run('get pod hangs --no-headers')).split(/ +/).slice(1, 3)).toEqual([
    '0/1',
    'ContainerCreating',
  ]);
  await run('delete pod hangs');
});

it('preStop that fails: is told, and the container ends all the same', async () => {
  const lifecycle = { preStop: { exec: { command: ['false'] } } };
  await apply(podOf('ill-stopped', { containers: [shell('main', waits(), { lifecycle })] }));
  await ready('ill-stopped');
  await run('delete pod ill-stopped');
  await until(async () =>
    expect(await run('get events --field-selector involvedObject.name=ill-stopped')).toMatch(
      /Warning +FailedPreStopHook +pod\/ill-stopped +PreStopHook failed/,
    ),
  );
});

it('terminationGracePeriodSeconds: then it is killed; deletion by --now or by force does not wait for it', async () => {
  const deaf = shell('main', 'trap "" TERM; while true; do sleep 0.1; done');
  const hour = { terminationGracePeriodSeconds: 3600, containers: [deaf] };
  await apply(podOf('deaf', { containers: [deaf] }), podOf('now', hour), podOf('forced', hour));
  await Promise.all(['deaf', 'now', 'forced'].map(ready));
  await run(['patch', 'pod', 'deaf', '-p', '{"spec":{"activeDeadlineSeconds":1}}']);
  expect(await ended('deaf', 'main')).toMatchObject({ exitCode: 137, reason: 'Error' });
  await run('delete pod now --now');
  expect(await run('delete pod forced --force --grace-period=0')).toContain('"forced" force deleted');
  for (const pod of ['now', 'forced'])
    await until(async () => expect((await attempt(`get pod ${pod}`)).stderr).toContain('not found'));
});

it('last words: from the file, or from the log where it failed and left none', async () => {
  await apply(
    podOf('speaks', {
      restartPolicy: 'Never',
      containers: [
        shell('file', 'echo from the file > /dev/termination-log; exit 1'),
        shell('own-file', 'echo from its own file > /tmp/last', { terminationMessagePath: '/tmp/last' }),
        shell('log', 'echo one; echo two; exit 4', { terminationMessagePolicy: 'FallbackToLogsOnError' }),
        shell('fine', 'echo nothing', { terminationMessagePolicy: 'FallbackToLogsOnError' }),
      ],
    }),
  );
  expect(await ended('speaks', 'file')).toMatchObject({
    exitCode: 1,
    reason: 'Error',
    message: 'from the file\n',
  });
  expect((await ended('speaks', 'own-file')).message).toBe('from its own file\n');
  expect((await ended('speaks', 'log')).message).toBe('one\ntwo\n');
  expect((await ended('speaks', 'fine')).message).toBeUndefined();
  expect(await run('describe pod speaks')).toMatch(/Reason: +Error\n +Message: +from the file\n/);
});

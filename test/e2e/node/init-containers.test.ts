import { useCluster } from '../../harness/cluster-fixture';
import { podOf, shell, waits } from '../../harness/pods';

/** Init containers and sidecars: their order, at the start and at the end. */
const { run, attempt, apply, read, until } = useCluster(['--nodes=1', '--ephemeral']);

const marks = { volumeMounts: [{ name: 'marks', mountPath: '/marks' }] };
const volumes = [{ name: 'marks', emptyDir: {} }];
/** Says that it runs, until a file of that name is there. */
const step = (name: string) =>
  shell(name, `echo ${name} >> /marks/log; until test -e /marks/${name}; do sleep 0.1; done`, marks);
/** Says when it ends. */
const sidecar = (name: string, more: object = {}) =>
  shell(name, waits(`echo ${name} ends; exit 1`), { restartPolicy: 'Always', ...marks, ...more });
const status = async (pod: string) => (await run(`get pod ${pod} --no-headers`)).split(/ +/)[2];
const becomes = (pod: string, wanted: string) => until(async () => expect(await status(pod)).toBe(wanted));
const noted = (pod: string, log: string) =>
  until(async () => expect(await run(`exec ${pod} -c main -- cat /marks/log`)).toBe(log));
const proceed = (pod: string, container: string) =>
  run(['exec', pod, '-c', container, '--', 'touch', `/marks/${container}`]);

it('run one after the other, before the containers', async () => {
  await apply(
    podOf('ordered', {
      volumes,
      initContainers: [step('one'), step('two')],
      containers: [shell('main', `echo main >> /marks/log; ${waits()}`, marks)],
    }),
  );
  await becomes('ordered', 'Init:0/2');
  expect((await attempt('logs ordered -c main')).stderr).toContain(
    'container "main" in pod "ordered" is waiting to start: PodInitializing',
  );
  await until(() => proceed('ordered', 'one'));
  await becomes('ordered', 'Init:1/2');
  await until(() => proceed('ordered', 'two'));
  await run('wait --for=condition=Ready pod/ordered --timeout=120s');
  await noted('ordered', 'one\ntwo\nmain\n');
  expect(await read('pod/ordered', '{.status.initContainerStatuses[*].state.terminated.reason}')).toBe(
    'Completed Completed',
  );
});

it('are started again when they fail, unless the Pod never restarts: it has failed then', async () => {
  const broken = [shell('fine', 'exit 0'), shell('broken', 'echo why; exit 3')];
  const containers = [shell('main', waits())];
  await apply(
    podOf('repeats', { initContainers: broken, containers }),
    podOf('gives-up', { restartPolicy: 'Never', initContainers: broken, containers }),
  );
  await becomes('repeats', 'Init:CrashLoopBackOff');
  expect(await read('pod/repeats', '{.status.phase}')).toBe('Pending');
  await until(async () => expect(await run('logs repeats -c broken')).toBe('why\n'));
  await becomes('gives-up', 'Init:Error');
  expect(await read('pod/gives-up', '{.status.phase}')).toBe('Failed');
  const counts = '{.status.initContainerStatuses[*].restartCount}';
  expect(await read('pod/gives-up', counts)).toBe('0 0');
});

it('C29: a sidecar starts in its turn, gates what follows until it has started, and ends after the Job', async () => {
  const startupProbe = {
    exec: { command: ['test', '-e', '/marks/up'] },
    periodSeconds: 1,
    failureThreshold: 300,
  };
  // Never ready, which holds up nobody.
  const readinessProbe = { exec: { command: ['false'] }, periodSeconds: 1 };
  const template = {
    spec: {
      restartPolicy: 'Never',
      volumes,
      initContainers: [
        shell('prep', 'echo prep >> /marks/log', marks),
        sidecar('proxy', { startupProbe, readinessProbe }),
        shell('warm', 'echo warm >> /marks/log', marks),
      ],
      containers: [step('main')],
    },
  };
  await apply({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'proxied' }, spec: { template } });
  const pod = await until(async () => {
    const name = await read('pods -l job-name=proxied', '{.items[*].metadata.name}');
    expect(name).not.toBe('');
    return name;
  });
  await becomes(pod, 'Init:1/3');
  await until(() => run(['exec', pod, '-c', 'proxy', '--', 'touch', '/marks/up']));
  await becomes(pod, 'Running');
  await noted(pod, 'prep\nwarm\nmain\n');
  expect((await run(`get pod ${pod} --no-headers`)).split(/ +/)[1]).toBe('1/2');
  expect(await read(`pod/${pod}`, '{.status.initContainerStatuses[1].started}')).toBe('true');

  // It is started again though the Pod is never restarted, and nobody else is.
  await run(['exec', pod, '-c', 'proxy', '--', 'kill', '1']);
  const counts =
    '{.status.initContainerStatuses[*].restartCount} {.status.containerStatuses[*].restartCount}';
  await until(async () => expect(await read(`pod/${pod}`, counts)).toBe('0 1 0 0'));

  await proceed(pod, 'main');
  await run('wait --for=condition=Complete job/proxied --timeout=120s');
  expect(await status(pod)).toBe('Completed');
  expect(await run(`logs ${pod} -c proxy`)).toBe('proxy ends\n');
});

it('C29: a sidecar that does not start is killed and started again', async () => {
  const startupProbe = { exec: { command: ['false'] }, periodSeconds: 1, failureThreshold: 1 };
  await apply(
    podOf('unstarted', {
      restartPolicy: 'Never',
      volumes,
      initContainers: [sidecar('proxy', { startupProbe })],
      containers: [shell('main', waits())],
    }),
  );
  await until(async () =>
    expect(
      Number(await read('pod/unstarted', '{.status.initContainerStatuses[0].restartCount}')),
    ).toBeGreaterThan(0),
  );
  expect(await read('pod/unstarted', '{.status.phase}')).toBe('Pending');
  expect(await run('events --for pod/unstarted')).toContain('proxy failed startup probe');
});

it('C29: sidecars end from the last to the first, after the containers', async () => {
  const slowly = (name: string, more: object = {}) => shell(name, waits('sleep 1; exit 0'), more);
  await apply(
    podOf('torn-down', {
      terminationGracePeriodSeconds: 60,
      initContainers: ['first', 'second'].map((name) => slowly(name, { restartPolicy: 'Always' })),
      containers: [slowly('main')],
    }),
  );
  await run('wait --for=condition=Ready pod/torn-down --timeout=120s');
  // Not by deletion: it should be there afterwards.
  await run(['patch', 'pod', 'torn-down', '-p', '{"spec":{"activeDeadlineSeconds":1}}']);
  await run('wait --for=jsonpath={.status.phase}=Failed pod/torn-down --timeout=120s');
  const finished = '.state.terminated.finishedAt';
  const [main, first, second] = (
    await read(
      'pod/torn-down',
      `{.status.containerStatuses[0]${finished}} {.status.initContainerStatuses[0]${finished}} {.status.initContainerStatuses[1]${finished}}`,
    )
  ).split(' ');
  expect(Date.parse(main ?? '')).toBeLessThan(Date.parse(second ?? ''));
  expect(Date.parse(second ?? '')).toBeLessThan(Date.parse(first ?? ''));
});

import { useCluster } from '../../harness/cluster-fixture';

/** Pods that cannot run: each says why, and the node goes on. */
const { run, apply, read, until } = useCluster(['--nodes=1', '--ephemeral']);

const pod = (name: string, spec: object, labels: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels },
  spec: { terminationGracePeriodSeconds: 0, ...spec },
});
const sleeper = { name: 'main', image: 'busybox', command: ['sleep', '3600'] };
const goesOn = async (name: string) => {
  await apply(pod(name, { containers: [sleeper] }));
  await run(`wait --for=condition=Ready pod/${name} --timeout=120s`);
};
const events = (name: string, reason: string) =>
  read(`events --field-selector involvedObject.name=${name},reason=${reason}`, '{.items[*].message}');
interface State {
  waiting?: { reason: string; message?: string };
  terminated?: { exitCode: number; reason: string; message?: string };
}
const stateOf = async (name: string, field = 'state'): Promise<State> =>
  JSON.parse((await read(`pod/${name}`, `{.status.containerStatuses[0].${field}}`)) || '{}') as State;

it.each([
  ['UPPER//case', 'InvalidImageName', 'couldn\'t parse image name "UPPER//case": invalid reference format'],
  ['nowhere/absent', 'ImagePullBackOff', 'pull access denied, repository does not exist'],
  ['busybox:none', 'ImagePullBackOff', 'not found'],
])('image %s: %s', async (image, reason, message) => {
  const name = `image-${image.toLowerCase().replaceAll(/\W+/g, '-')}`;
  await apply(pod(name, { containers: [{ ...sleeper, image }] }));
  await until(async () =>
    expect((await stateOf(name)).waiting).toMatchObject({
      reason,
      message: expect.stringContaining(message),
    }),
  );
});

it.each([
  ['/nothing', 'exec: "/nothing": stat /nothing: no such file or directory'],
  ['nothing', 'exec: "nothing": executable file not found in $PATH'],
  ['/etc/passwd', 'exec: "/etc/passwd": permission denied'],
])('command %s: cannot be started, is tried again, and backs off', async (command, message) => {
  const name = `command-${command.replaceAll(/\W+/g, '-')}x`;
  await apply(pod(name, { containers: [{ ...sleeper, command: [command] }] }));
  await until(async () => {
    expect((await stateOf(name)).waiting?.reason).toMatch(/^(RunContainerError|CrashLoopBackOff)$/);
    expect((await stateOf(name, 'lastState')).terminated).toMatchObject({
      exitCode: 128,
      reason: 'StartError',
      message: expect.stringContaining(message),
    });
    expect(await events(name, 'Failed')).toContain(message);
  });
});

it.each([
  ['nothing', 127, 'sh: nothing: not found'],
  ['/etc/passwd', 126, 'sh: /etc/passwd: Permission denied'],
])('a shell that cannot run %s ends with %i', async (command, exitCode, said) => {
  const name = `shell-${exitCode}`;
  await apply(
    pod(name, { restartPolicy: 'Never', containers: [{ ...sleeper, command: ['sh', '-c', command] }] }),
  );
  await until(async () =>
    expect((await stateOf(name)).terminated).toMatchObject({ exitCode, reason: 'Error' }),
  );
  expect(await run(`logs ${name}`)).toContain(said);
});

it.each(['configmap', 'secret', 'pvc'] as const)('an absent %s: is waited for', async (kind) => {
  const source = {
    configmap: { configMap: { name: 'late' } },
    secret: { secret: { secretName: 'late' } },
    pvc: { persistentVolumeClaim: { claimName: 'late' } },
  }[kind];
  const name = `waits-for-${kind}`;
  const volumeMounts = [{ name: 'v', mountPath: '/v' }];
  // Placed by hand: the scheduler would wait for the claim.
  const volumes = [{ name: 'v', ...source }];
  await apply(pod(name, { nodeName: 'node-1', containers: [{ ...sleeper, volumeMounts }], volumes }));
  await until(async () => expect(await events(name, 'FailedMount')).toMatch(/"late" not found/));
  expect(await stateOf(name)).toMatchObject({ waiting: { reason: 'ContainerCreating' } });
  await goesOn(`beside-${kind}`);
  if (kind === 'pvc') {
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } };
    await apply({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'late' }, spec });
    await run(`annotate pvc late volume.kubernetes.io/selected-node=node-1`);
  } else await run(`create ${kind === 'secret' ? 'secret generic' : kind} late --from-literal=key=value`);
  await run(`wait --for=condition=Ready pod/${name} --timeout=120s`);
});

it('an absent key of env: CreateContainerConfigError until it is there', async () => {
  const env = [{ name: 'KEY', valueFrom: { configMapKeyRef: { name: 'settings', key: 'key' } } }];
  await apply(pod('needs-env', { containers: [{ ...sleeper, env }] }));
  const says = async (message: string) =>
    until(async () =>
      expect(await stateOf('needs-env')).toEqual({
        waiting: { reason: 'CreateContainerConfigError', message },
      }),
    );
  await says('configmap "settings" not found');
  await run('create configmap settings --from-literal=other=1');
  await says("couldn't find key key in ConfigMap default/settings");
  await run('create configmap settings --from-literal=key=value --dry-run=client -o json').then((object) =>
    apply(JSON.parse(object) as object),
  );
  await run('wait --for=condition=Ready pod/needs-env --timeout=120s');
  expect(await run('exec needs-env -- printenv KEY')).toBe('value\n');
});

it('many containers that crash at once: all back off, and the node stays ready', async () => {
  const crashes = { image: 'busybox', command: ['sh', '-c', 'exit 7'] };
  const containers = Array.from({ length: 10 }, (_, i) => ({ name: `c${i}`, ...crashes }));
  await apply(...Array.from({ length: 4 }, (_, i) => pod(`storm-${i}`, { containers }, { storm: 'yes' })));
  const each = (field: string) =>
    read('pods -l storm=yes', `{.items[*].status.containerStatuses[*].${field}}`);
  await until(async () => {
    const counts = (await each('restartCount')).split(' ');
    expect(counts.filter((count) => Number(count) > 0)).toHaveLength(40);
    expect((await each('lastState.terminated.exitCode')).split(' ')).toEqual(Array(40).fill('7'));
  });
  await goesOn('calm');
  expect(await read('node/node-1', '{.status.conditions[?(@.type=="Ready")].status}')).toBe('True');
  await run('delete pods -l storm=yes --now');
});

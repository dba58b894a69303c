import { useCluster } from '../../harness/cluster-fixture';

/** Where a container's environment variables come from. */
const { run, apply, read, until } = useCluster(['--nodes=1', '--ephemeral']);

const pod = (name: string, container: object, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: 'shop' }, annotations: { build: 'two' } },
  spec: {
    terminationGracePeriodSeconds: 1,
    restartPolicy: 'Never',
    containers: [{ name: 'main', image: 'busybox', command: ['env'], ...container }],
    ...spec,
  },
});
const env = (name: string, valueFrom: object) => ({ name, valueFrom });
const field = (name: string, fieldPath: string) => env(name, { fieldRef: { fieldPath } });

/** What the container was given, once it has printed it and ended. */
async function variablesOf(name: string): Promise<Record<string, string>> {
  await until(async () => expect(await read(`pod/${name}`, '{.status.phase}')).toBe('Succeeded'));
  const lines = (await run(['logs', name])).trim().split('\n');
  return Object.fromEntries(lines.map((line) => [line.split('=', 1)[0], line.slice(line.indexOf('=') + 1)]));
}
const waiting = async (name: string) =>
  JSON.parse(await read(`pod/${name}`, '{.status.containerStatuses[0].state.waiting}')) as object;

beforeAll(async () => {
  await run('create configmap settings --from-literal=colour=red --from-literal=size=big');
  await run('create secret generic keys --from-literal=token=s3cret');
  await run('create service clusterip my-db --tcp=5432');
});

it('values, which may refer to others, and commands that refer to them', async () => {
  await apply(
    pod('values', {
      command: ['sh', '-c', 'env; echo "SAID=$(GREETING)"'],
      env: [
        { name: 'NAME', value: 'world' },
        { name: 'GREETING', value: 'hello $(NAME)' },
        { name: 'LITERAL', value: '$$(NAME)' },
        { name: 'UNKNOWN', value: '$(NOBODY) $(LATER)' },
        { name: 'LATER', value: 'late' },
      ],
    }),
  );
  expect(await variablesOf('values')).toMatchObject({
    GREETING: 'hello world',
    LITERAL: '$(NAME)',
    UNKNOWN: '$(NOBODY) $(LATER)',
    SAID: 'hello world',
  });
});

it('ConfigMaps and Secrets: by key, all keys with a prefix, and what need not be there', async () => {
  await apply(
    pod('objects', {
      envFrom: [
        { prefix: 'CFG_', configMapRef: { name: 'settings' } },
        { secretRef: { name: 'keys' } },
        { configMapRef: { name: 'nowhere', optional: true } },
      ],
      env: [
        env('COLOUR', { configMapKeyRef: { name: 'settings', key: 'colour' } }),
        env('TOKEN', { secretKeyRef: { name: 'keys', key: 'token' } }),
        env('NO_KEY', { configMapKeyRef: { name: 'settings', key: 'shape', optional: true } }),
        env('NO_SECRET', { secretKeyRef: { name: 'nowhere', key: 'x', optional: true } }),
        { name: 'BOTH', value: '$(CFG_size) and $(COLOUR)' },
      ],
    }),
  );
  const variables = await variablesOf('objects');
  expect(variables).toMatchObject({
    CFG_colour: 'red',
    CFG_size: 'big',
    token: 's3cret',
    COLOUR: 'red',
    TOKEN: 's3cret',
    BOTH: 'big and red',
  });
  expect(Object.keys(variables)).not.toEqual(expect.arrayContaining(['NO_KEY']));
  expect(Object.keys(variables)).not.toEqual(expect.arrayContaining(['NO_SECRET']));
});

it('fields of the Pod, and resources of its containers or the node', async () => {
  const resource = (name: string, ref: object) => env(name, { resourceFieldRef: ref });
  await apply(
    pod(
      'fields',
      {
        resources: { requests: { cpu: '125m', memory: '32Mi' }, limits: { cpu: '250m' } },
        env: [
          field('POD', 'metadata.name'),
          field('NAMESPACE', 'metadata.namespace'),
          field('UID_', 'metadata.uid'),
          field('LABEL', "metadata.labels['app']"),
          field('ANNOTATION', "metadata.annotations['build']"),
          field('NODE', 'spec.nodeName'),
          field('ACCOUNT', 'spec.serviceAccountName'),
          field('IP', 'status.podIP'),
          field('IPS', 'status.podIPs'),
          field('HOST', 'status.hostIP'),
          resource('CPU', { resource: 'limits.cpu' }),
          resource('MILLICPU', { resource: 'requests.cpu', divisor: '1m' }),
          resource('MEMORY', { resource: 'requests.memory' }),
          resource('MEBIBYTES', { resource: 'requests.memory', divisor: '1Mi' }),
          resource('NODE_BYTES', { resource: 'limits.memory' }),
        ],
      },
      {},
    ),
  );
  const variables = await variablesOf('fields');
  const uid = await read('pod/fields', '{.metadata.uid}');
  expect(variables).toMatchObject({
    POD: 'fields',
    NAMESPACE: 'default',
    UID_: uid,
    LABEL: 'shop',
    ANNOTATION: 'two',
    NODE: 'node-1',
    ACCOUNT: 'default',
    HOST: await read('pod/fields', '{.status.hostIP}'),
    CPU: '1',
    MILLICPU: '125',
    MEMORY: String(32 * 1024 ** 2),
    MEBIBYTES: '32',
  });
  expect(variables.IP).toMatch(/^10\.244\.0\.\d+$/);
  expect(variables.IPS).toBe(variables.IP);
  // Without a limit it is what the node has to give.
  const allocatable = await read('node/node-1', '{.status.allocatable.memory}');
  expect(variables.NODE_BYTES).toBe(String(Number.parseInt(allocatable, 10) * 1024));
});

it('a file that an init container has made', async () => {
  const ref = (name: string, key: string, optional = false) =>
    env(name, { fileKeyRef: { volumeName: 'made', path: 'app.env', key, optional } });
  const write = String.raw`printf "# made\nDB_ADDRESS='db:5432'\nLINES='one\ntwo'\n" > /made/app.env`;
  await apply(
    pod(
      'file',
      {
        command: ['sh', '-c', 'env; echo LINES_="$LINES" | tr "\\n" " "'],
        env: [ref('DB', 'DB_ADDRESS'), ref('LINES', 'LINES'), ref('NONE', 'NONE', true)],
      },
      {
        initContainers: [
          {
            name: 'make',
            image: 'busybox',
            command: ['sh', '-c', write],
            volumeMounts: [{ name: 'made', mountPath: '/made' }],
          },
        ],
        volumes: [{ name: 'made', emptyDir: {} }],
      },
    ),
  );
  const variables = await variablesOf('file');
  expect(variables).toMatchObject({ DB: 'db:5432', LINES_: 'one two' });
  expect(variables).not.toHaveProperty('NONE');
});

it('Services of the namespace, unless the Pod wants none', async () => {
  const ip = await read('service/my-db', '{.spec.clusterIP}');
  await until(async () => {
    // A kubelet learns of a Service a moment later than the API server has it.
    await run('delete pod linked --ignore-not-found --now');
    await apply(pod('linked', {}));
    expect(await variablesOf('linked')).toMatchObject({ MY_DB_SERVICE_HOST: ip });
  });
  expect(await variablesOf('linked')).toMatchObject({
    MY_DB_SERVICE_PORT: '5432',
    MY_DB_PORT: `tcp://${ip}:5432`,
    MY_DB_PORT_5432_TCP_ADDR: ip,
    KUBERNETES_SERVICE_HOST: '10.96.0.1',
  });
  await apply(pod('unlinked', {}, { enableServiceLinks: false }));
  const variables = await variablesOf('unlinked');
  expect(variables).not.toHaveProperty('MY_DB_SERVICE_HOST');
  expect(variables).toMatchObject({ KUBERNETES_SERVICE_PORT: '443' });
});

it.each([
  ['no-map', { configMapKeyRef: { name: 'nowhere', key: 'x' } }, 'configmap "nowhere" not found'],
  ['no-secret', { secretKeyRef: { name: 'nowhere', key: 'x' } }, 'secret "nowhere" not found'],
  [
    'no-key',
    { configMapKeyRef: { name: 'settings', key: 'shape' } },
    "couldn't find key shape in ConfigMap default/settings",
  ],
  ['no-token', { secretKeyRef: { name: 'keys', key: 'x' } }, "couldn't find key x in Secret default/keys"],
])(
  '%s: waits with CreateContainerConfigError until what it refers to is there',
  async (name, source, message) => {
    await apply(pod(name, { env: [env('X', source)] }));
    await until(async () =>
      expect(await waiting(name)).toEqual({ reason: 'CreateContainerConfigError', message }),
    );
    if (name !== 'no-map') return;
    await run('create configmap nowhere --from-literal=x=found');
    expect(await variablesOf(name)).toMatchObject({ X: 'found' });
  },
);

import { useCluster } from '../../harness/cluster-fixture';

/** What containers may use, at their start and after a resize. */
const { run, apply, read, until } = useCluster(['--nodes=1', '--ephemeral']);

const pod = (name: string, resources: object, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'main', image: 'busybox', command: ['sleep', '3600'], resources, ...more }],
  },
});
const ready = (name: string) => run(`wait --for=condition=Ready pod/${name} --timeout=120s`);
const cgroup = async (name: string) =>
  (await run(['exec', name, '--', 'sh', '-c', 'cd /sys/fs/cgroup; cat cpu.max cpu.weight memory.max']))
    .trim()
    .split('\n');
const resize = (name: string, resources: object) =>
  run([
    ...['patch', 'pod', name, '--subresource=resize', '-p'],
    JSON.stringify({ spec: { containers: [{ name: 'main', resources }] } }),
  ]);
const both = (cpu: string, memory: string) => ({
  requests: { cpu, memory },
  limits: { cpu, memory },
});
const status = '{.status.containerStatuses[0]';
/** `Type=Status:Reason` of the conditions that a resize makes. */
const resizing = (name: string) =>
  read(
    `pod/${name}`,
    '{range .status.conditions[?(@.type=="PodResizePending")]}{.type}={.status}:{.reason}{end}' +
      '{range .status.conditions[?(@.type=="PodResizeInProgress")]}{.type}={.status}:{.reason}{end}',
  );
const events = (name: string) =>
  run([
    ...['get', 'events', `--field-selector=involvedObject.name=${name}`],
    ...['-o', 'jsonpath={range .items[*]}{.reason} {end}'],
  ]);
const mebi = 1024 ** 2;

it('tells quality of service and cgroup numbers by requests and limits', async () => {
  await apply(
    pod('guaranteed', both('250m', '64Mi')),
    pod('burstable', { requests: { cpu: '100m', memory: '32Mi' } }),
    pod('best-effort', {}),
  );
  for (const name of ['guaranteed', 'burstable', 'best-effort']) await ready(name);
  const classes = 'pod/guaranteed pod/burstable pod/best-effort';
  expect(await read(classes, '{.items[*].status.qosClass}')).toBe('Guaranteed Burstable BestEffort');
  // Weights as runc makes them of shares: 256, 102 and 2.
  expect(await cgroup('guaranteed')).toEqual(['25000 100000', '10', String(64 * mebi)]);
  expect(await cgroup('burstable')).toEqual(['max 100000', '4', 'max']);
  expect(await cgroup('best-effort')).toEqual(['max 100000', '1', 'max']);
});

it('gives a running container more, and less, without a restart', async () => {
  await apply(pod('grows', both('100m', '64Mi')));
  await ready('grows');
  const id = await read('pod/grows', `${status}.containerID}`);
  await resize('grows', both('200m', '128Mi'));
  await until(async () => {
    expect(await cgroup('grows')).toEqual(['20000 100000', expect.any(String), String(128 * mebi)]);
    expect(await read('pod/grows', `${status}.resources.limits.cpu}`)).toBe('200m');
    expect(await read('pod/grows', `${status}.allocatedResources.memory}`)).toBe('128Mi');
    expect(await resizing('grows')).toBe('');
    expect(await events('grows')).toContain('ResizeCompleted');
  });
  await resize('grows', both('50m', '128Mi'));
  await until(async () => expect((await cgroup('grows'))[0]).toBe('5000 100000'));
  expect(await read('pod/grows', `${status}.containerID}`)).toBe(id);
  expect(await read('pod/grows', `${status}.restartCount}`)).toBe('0');
});

it('restarts a container where its resizePolicy asks for it', async () => {
  const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }];
  await apply(pod('restarts', both('100m', '64Mi'), { resizePolicy }));
  await ready('restarts');
  await resize('restarts', both('150m', '64Mi'));
  await until(async () => expect((await cgroup('restarts'))[0]).toBe('15000 100000'));
  expect(await read('pod/restarts', `${status}.restartCount}`)).toBe('0');
  await resize('restarts', both('150m', '96Mi'));
  await until(async () => {
    expect(await read('pod/restarts', `${status}.restartCount}`)).toBe('1');
    expect((await cgroup('restarts'))[2]).toBe(String(96 * mebi));
  });
});

it('waits with what others have, and says what will never fit', async () => {
  const cpus = Number(await read('node/node-1', '{.status.allocatable.cpu}'));
  await apply(pod('wants', both('100m', '32Mi')), pod('has', both('500m', '32Mi')));
  await ready('wants');
  await ready('has');
  await resize('wants', both(String(cpus * 100), '32Mi'));
  await until(async () => {
    expect(await resizing('wants')).toBe('PodResizePending=True:Infeasible');
    const message = await read('pod/wants', '{.status.conditions[?(@.type=="PodResizePending")].message}');
    expect(message).toBe(
      `Node didn't have enough capacity: cpu, requested: ${cpus * 100_000}, capacity: ${cpus * 1000}`,
    );
  });
  await resize('wants', both(`${cpus * 1000 - 400}m`, '32Mi'));
  await until(async () => expect(await resizing('wants')).toBe('PodResizePending=True:Deferred'));
  expect(await read('pod/wants', `${status}.allocatedResources.cpu}`)).toBe('100m');
  await run('delete pod has guaranteed burstable grows restarts --now');
  await until(async () => {
    expect(await resizing('wants')).toBe('');
    expect(await read('pod/wants', `${status}.resources.requests.cpu}`)).toBe(`${cpus * 1000 - 400}m`);
  });
  await run('delete pod wants --now');
});

it('lets containers without limits of their own have those of the Pod', async () => {
  const whole = pod('whole', {});
  const { spec } = whole;
  await apply({ ...whole, spec: { ...spec, resources: both('200m', '96Mi') } });
  await ready('whole');
  expect(await read('pod/whole', '{.status.qosClass}')).toBe('Guaranteed');
  expect(await cgroup('whole')).toEqual(['20000 100000', '8', String(96 * mebi)]);
  const more = { spec: { resources: both('300m', '96Mi') } };
  await run(['patch', 'pod', 'whole', '--subresource=resize', '-p', JSON.stringify(more)]);
  await until(async () => {
    expect((await cgroup('whole'))[0]).toBe('30000 100000');
    expect(await read('pod/whole', '{.status.resources.limits.cpu}')).toBe('300m');
  });
  expect(await read('pod/whole', `${status}.restartCount}`)).toBe('0');
});

it('kills what uses more memory than it may, with 137 and OOMKilled', async () => {
  const hog = pod('hog', { limits: { memory: '32Mi' } });
  const stress = {
    image: 'polinux/stress',
    command: ['stress', '--vm', '1', '--vm-bytes', '64M', '--vm-hang', '1'],
  };
  await apply({ ...hog, spec: { ...hog.spec, containers: [{ ...hog.spec.containers[0], ...stress }] } });
  await until(async () => {
    const last = JSON.parse(await read('pod/hog', `${status}.lastState.terminated}`)) as object;
    expect(last).toMatchObject({ reason: 'OOMKilled', exitCode: 137 });
  });
  expect(Number(await read('pod/hog', `${status}.restartCount}`))).toBeGreaterThan(0);
});

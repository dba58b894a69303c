import { useCluster } from '../../harness/cluster-fixture';
import { brokenImage, workload } from '../../harness/workloads';

const { run, attempt, apply, read, until } = useCluster(['--nodes=2', '--storage=memory']);
const finished = (name: string) => run(`rollout status sts/${name} --timeout=120s`);
const parallel = { podManagementPolicy: 'Parallel' };
/** `db-0=image …` */
const images = (app: string) =>
  read(`pods -l app=${app}`, '{range .items[*]}{.metadata.name}={.spec.containers[0].image} {end}');
const names = (app: string) => read(`pods -l app=${app}`, '{.items[*].metadata.name}');
const uid = (pod: string) => read(`pod/${pod}`, '{.metadata.uid}');
const setImage = (name: string, image: string) => run(`set image sts/${name} main=${image}`);
const observed = (name: string) =>
  until(async () => {
    const [generation, seen] = (
      await read(`sts/${name}`, '{.metadata.generation} {.status.observedGeneration}')
    ).split(' ');
    expect(seen).toBe(generation);
  });
const claims = async (set: string) =>
  (await read('pvc', '{.items[*].metadata.name}')).split(' ').filter((name) => name.includes(`-${set}-`));
const withClaims = (whenDeleted: string, whenScaled: string) => ({
  ...parallel,
  replicas: 2,
  persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled },
  volumeClaimTemplates: [
    {
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
    },
  ],
});

it('makes Pods in order, each with a name of its own that others can look up', async () => {
  const service = { clusterIP: 'None', selector: { app: 'db' }, ports: [{ port: 80 }] };
  await apply(
    { apiVersion: 'v1', kind: 'Service', metadata: { name: 'db' }, spec: service },
    workload('StatefulSet', 'db', { serviceName: 'db', replicas: 3, ordinals: { start: 5 } }),
  );
  await finished('db');
  const order = await read(
    'pods -l app=db --sort-by=.metadata.creationTimestamp',
    '{.items[*].metadata.name}',
  );
  expect(order).toBe('db-5 db-6 db-7');
  expect(await run('exec db-5 -- hostname')).toBe('db-5\n');
  const labels = String.raw`{.metadata.labels.statefulset\.kubernetes\.io/pod-name} {.metadata.labels.apps\.kubernetes\.io/pod-index}`;
  expect(await read('pod/db-6', labels)).toBe('db-6 6');
  const ip = await read('pod/db-7', '{.status.podIP}');
  await until(async () => expect(await run('exec db-5 -- nslookup db-7.db')).toContain(ip));
  const before = await uid('db-6');
  await run('delete pod db-6');
  await finished('db');
  expect(await uid('db-6')).not.toBe(before);
  await run('label pod db-6 statefulset.kubernetes.io/pod-name-');
  await until(async () => expect(await read('pod/db-6', labels)).toBe('db-6 6'));
  const events = 'events --field-selector involvedObject.name=db,involvedObject.kind=StatefulSet';
  await until(async () => {
    const messages = await read(events, '{range .items[*]}{.reason}: {.message}{"\\n"}{end}');
    expect(messages).toContain('SuccessfulCreate: create Pod db-5 in StatefulSet db successful');
    expect(messages).toContain('SuccessfulUpdate: update Pod db-6 in StatefulSet db successful');
  });
});

it('C23 stays with a bad Pod after the template was put back, until somebody deletes the Pod', async () => {
  await apply(workload('StatefulSet', 'stuck', { replicas: 3 }));
  await finished('stuck');
  await setImage('stuck', brokenImage);
  const bad = `stuck-0=busybox stuck-1=busybox stuck-2=${brokenImage}`;
  await until(async () => expect(await images('stuck')).toBe(bad));
  await run('rollout undo sts/stuck');
  await observed('stuck');
  expect(await images('stuck')).toBe(bad);
  await run('delete pod stuck-2');
  await finished('stuck');
  expect(await images('stuck')).toBe('stuck-0=busybox stuck-1=busybox stuck-2=busybox');
});

it('C23 replaces it without help where Pods are managed in parallel', async () => {
  await apply(workload('StatefulSet', 'free', { replicas: 3, ...parallel }));
  await finished('free');
  await setImage('free', brokenImage);
  await until(async () =>
    expect(await images('free')).toBe(`free-0=busybox free-1=busybox free-2=${brokenImage}`),
  );
  await setImage('free', 'busybox');
  await finished('free');
  expect(await images('free')).toBe('free-0=busybox free-1=busybox free-2=busybox');
});

it('C23 updates what is above its partition, and makes the rest anew as it was', async () => {
  const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 2 } };
  await apply(workload('StatefulSet', 'part', { replicas: 3, updateStrategy, ...parallel }));
  await finished('part');
  await setImage('part', 'nginx');
  await until(async () => expect(await images('part')).toBe('part-0=busybox part-1=busybox part-2=nginx'));
  const before = await uid('part-0');
  await run('delete pod part-0');
  await until(async () => expect(await uid('part-0')).not.toBe(before));
  expect(await images('part')).toBe('part-0=busybox part-1=busybox part-2=nginx');
  expect(await run('rollout status sts/part --timeout=120s')).toContain(
    'partitioned roll out complete: 1 new pods have been updated...',
  );
  expect(
    (await attempt(['patch', 'sts', 'part', '-p', '{"spec":{"serviceName":"other"}}'])).stderr,
  ).toContain(
    "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
  );
  await run(['patch', 'sts', 'part', '-p', '{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}']);
  await finished('part');
  expect(await images('part')).toBe('part-0=nginx part-1=nginx part-2=nginx');
});

it('with OnDelete updates a Pod when somebody deletes it, and goes back to an earlier revision', async () => {
  await apply(workload('StatefulSet', 'manual', { replicas: 1, updateStrategy: { type: 'OnDelete' } }));
  await until(async () => expect(await read('sts/manual', '{.status.readyReplicas}')).toBe('1'));
  await run(['annotate', 'sts', 'manual', 'kubernetes.io/change-cause=second']);
  await setImage('manual', 'nginx');
  await observed('manual');
  expect(await images('manual')).toBe('manual-0=busybox');
  await run('delete pod manual-0');
  await until(async () => expect(await images('manual')).toBe('manual-0=nginx'));
  expect((await run('rollout history sts/manual')).trim().split('\n').slice(1)).toEqual([
    'REVISION  CHANGE-CAUSE',
    '1         <none>',
    '2         second',
  ]);
  await run('rollout undo sts/manual --to-revision=1');
  expect(await read('sts/manual', '{.spec.template.spec.containers[0].image}')).toBe('busybox');
  await until(async () =>
    expect((await run('rollout history sts/manual')).trim().split('\n').at(-1)).toMatch(/^3 /),
  );
});

it('takes over the Pods and the history of one that left them to nobody', async () => {
  const [name] = (await read('controllerrevisions -l app=manual', '{.items[*].metadata.name}')).split(' ');
  await run('delete sts manual --cascade=orphan');
  await until(async () => expect(await read('pod/manual-0', '{.metadata.ownerReferences}')).toBe(''));
  await apply(workload('StatefulSet', 'manual', { replicas: 1, updateStrategy: { type: 'OnDelete' } }));
  const id = await read('sts/manual', '{.metadata.uid}');
  for (const object of ['pod/manual-0', `controllerrevision/${name}`])
    await until(async () => expect(await read(object, '{.metadata.ownerReferences[*].uid}')).toBe(id));
});

it('makes a Pod anew that has failed', async () => {
  await apply(workload('StatefulSet', 'fails', { replicas: 1 }));
  await finished('fails');
  const before = await uid('fails-0');
  await run(['patch', 'pod', 'fails-0', '-p', '{"spec":{"activeDeadlineSeconds":1}}']);
  await until(async () => {
    expect(await uid('fails-0')).not.toBe(before);
    expect(await read('sts/fails', '{.status.readyReplicas}')).toBe('1');
  });
});

it('keeps its claims, or lets them go with the Pods it is scaled by or with itself', async () => {
  await apply(
    workload('StatefulSet', 'keeps', withClaims('Retain', 'Retain')),
    workload('StatefulSet', 'sheds', withClaims('Delete', 'Delete')),
  );
  await finished('keeps');
  await finished('sheds');
  await run('scale sts/keeps sts/sheds --replicas=1');
  await until(async () => {
    expect(await names('sheds')).toBe('sheds-0');
    expect(await claims('sheds')).toEqual(['data-sheds-0']);
  });
  await run('delete sts keeps sheds');
  await until(async () => expect(await claims('sheds')).toEqual([]));
  expect(await claims('keeps')).toEqual(['data-keeps-0', 'data-keeps-1']);
});

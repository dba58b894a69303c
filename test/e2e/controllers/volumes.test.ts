import { useCluster } from '../../harness/cluster-fixture';

/** Claims and volumes: how they find each other, why they don't, and what holds them. */
const { run, attempt, apply, read, until } = useCluster([
  '--nodes=1',
  '--storage=memory',
  '--without=cluster-dns,kube-proxy',
]);

const volume = (name: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name },
  spec: {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'manual',
    hostPath: { path: `/tmp/tk-${name}` },
    ...spec,
  },
});
const claim = (name: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: {
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'manual',
    resources: { requests: { storage: '1Gi' } },
    ...spec,
  },
});
const storageClass = (name: string, provisioner: string, volumeBindingMode = 'Immediate') => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name },
  provisioner,
  volumeBindingMode,
});
const user = (name: string, claimName: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'main', image: 'nginx', volumeMounts: [{ name: 'v', mountPath: '/data' }] }],
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }],
  },
});
const phase = (resource: string) => read(resource, '{.status.phase}');
const untilPhase = (resource: string, expected: string) =>
  until(async () => expect(await phase(resource)).toBe(expected));
const untilDescribed = (resource: string, pattern: RegExp) =>
  until(async () => expect(await run(['describe', ...resource.split('/')])).toMatch(pattern));
const untilGone = (resource: string) =>
  until(async () => expect((await attempt(`get ${resource}`)).stderr).toContain('not found'));

it('static: the smallest that is large enough; Retain keeps it Released until somebody frees it', async () => {
  const retained = { persistentVolumeReclaimPolicy: 'Retain' };
  await apply(
    volume('large', { ...retained, capacity: { storage: '5Gi' } }),
    volume('fit', { ...retained, capacity: { storage: '2Gi' } }),
    volume('small', { capacity: { storage: '1Gi' } }),
  );
  for (const name of ['large', 'fit', 'small']) await untilPhase(`pv/${name}`, 'Available');
  await apply(claim('wants-two', { resources: { requests: { storage: '2Gi' } } }));
  await untilPhase('pvc/wants-two', 'Bound');
  expect(await read('pvc/wants-two', '{.spec.volumeName} {.status.capacity.storage}')).toBe('fit 2Gi');
  expect(await run('get pv fit --no-headers')).toMatch(/ RWO +Retain +Bound +default\/wants-two +manual /);
  await run('delete pvc wants-two');
  await untilPhase('pv/fit', 'Released');
  expect(await read('pv/fit', '{.spec.claimRef.name}')).toBe('wants-two');
  await run(['patch', 'pv', 'fit', '--type=json', '-p', '[{"op":"remove","path":"/spec/claimRef"}]']);
  await untilPhase('pv/fit', 'Available');
});

it('static: a volume that is reserved for a claim waits for it, though its class waits for Pods', async () => {
  await apply(
    storageClass('local', 'kubernetes.io/no-provisioner', 'WaitForFirstConsumer'),
    volume('kept', {
      storageClassName: 'local',
      claimRef: { namespace: 'default', name: 'meant' },
    }),
    volume('free', { storageClassName: 'local' }),
    claim('meant', { storageClassName: 'local' }),
    claim('other', { storageClassName: 'local' }),
  );
  await untilPhase('pvc/meant', 'Bound');
  expect(await read('pvc/meant', '{.spec.volumeName}')).toBe('kept');
  await untilDescribed(
    'pvc/other',
    /Normal +WaitForFirstConsumer .* waiting for first consumer to be created before binding/,
  );
  expect(await phase('pvc/other')).toBe('Pending');
  await apply(user('first-consumer', 'other'));
  await run('wait --for=condition=Ready pod/first-consumer --timeout=120s');
  expect(await read('pvc/other', '{.spec.volumeName}')).toBe('free');
});

it("a class that is unknown, that makes nothing, or that is nobody's: says why, and others go on", async () => {
  await apply(
    storageClass('nothing', 'kubernetes.io/no-provisioner'),
    storageClass('elsewhere', 'csi.example.com'),
    claim('unknown', { storageClassName: 'ghost' }),
    claim('empty', { storageClassName: 'nothing' }),
    claim('foreign', { storageClassName: 'elsewhere' }),
    claim('none', { storageClassName: '' }),
    claim('good', { storageClassName: 'manual' }),
  );
  await untilPhase('pvc/good', 'Bound');
  await untilDescribed(
    'pvc/unknown',
    /Warning +ProvisioningFailed .* storageclass\.storage\.k8s\.io "ghost" not found/,
  );
  await untilDescribed(
    'pvc/empty',
    /Warning +ProvisioningFailed .* no volume plugin matched name: kubernetes\.io\/no-provisioner/,
  );
  await untilDescribed(
    'pvc/foreign',
    /Normal +ExternalProvisioning .* external provisioner 'csi\.example\.com'/,
  );
  await untilDescribed(
    'pvc/none',
    /Normal +FailedBinding .* no persistent volumes available for this claim and no storage class is set/,
  );
  await apply(storageClass('ghost', 'hostpath.csi.tinkernetes.dev'));
  await untilPhase('pvc/unknown', 'Bound');
});

it('a claim from before there was a default class: gets it when there is one', async () => {
  const isDefault = 'storageclass.kubernetes.io/is-default-class';
  await run(`annotate sc standard ${isDefault}=false --overwrite`);
  await apply(claim('early', { storageClassName: undefined }));
  await untilDescribed('pvc/early', /Normal +FailedBinding .* no storage class is set/);
  await run(`annotate sc standard ${isDefault}=true --overwrite`);
  await until(async () => expect(await read('pvc/early', '{.spec.storageClassName}')).toBe('standard'));
});

it('a claim that names its volume: that or none, and says why', async () => {
  await apply(volume('modest', { capacity: { storage: '1Mi' } }), claim('greedy', { volumeName: 'modest' }));
  await untilDescribed(
    'pvc/greedy',
    /Warning +VolumeMismatch .* Cannot bind to requested volume "modest": requested PV is too small/,
  );
  await apply(claim('second', { volumeName: 'kept', storageClassName: 'local' }));
  await untilDescribed(
    'pvc/second',
    /Warning +FailedBinding .* volume "kept" already bound to a different claim\./,
  );
});

it('protection: what is in use is Terminating until it is not; Delete takes the volume along', async () => {
  await apply(claim('used', { storageClassName: 'standard' }), user('uses', 'used'));
  await run('wait --for=condition=Ready pod/uses --timeout=120s');
  const name = await read('pvc/used', '{.spec.volumeName}');
  await run('delete pvc used --wait=false');
  await run(`delete pv ${name} --wait=false`);
  expect(await run('get pvc used --no-headers')).toMatch(/^used +Terminating /);
  expect(await run(`get pv ${name} --no-headers`)).toMatch(/ Terminating /);
  await untilDescribed('pvc/used', /Finalizers: +\[kubernetes\.io\/pvc-protection\]/);
  await apply(user('too-late', 'used'));
  await untilDescribed(
    'pod/too-late',
    /Warning +FailedScheduling .* persistentvolumeclaim "used" is being deleted/,
  );
  await run('delete pod uses too-late');
  await untilGone('pvc/used');
  await untilGone(`pv/${name}`);
});

it('a claim whose volume is gone: is Lost', async () => {
  await apply(volume('fleeting'), claim('bereft', { volumeName: 'fleeting' }));
  await untilPhase('pvc/bereft', 'Bound');
  await run('delete pv fleeting --wait=false');
  await run(['patch', 'pv', 'fleeting', '--type=merge', '-p', '{"metadata":{"finalizers":null}}']);
  await untilPhase('pvc/bereft', 'Lost');
  await untilDescribed(
    'pvc/bereft',
    /Warning +ClaimLost .* Bound claim has lost its PersistentVolume\. Data on the volume is lost!/,
  );
});

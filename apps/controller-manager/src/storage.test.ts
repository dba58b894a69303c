import {
  Events,
  Nodes,
  PersistentVolumeClaims,
  PersistentVolumes,
  Pods,
  StorageClasses,
  type PersistentVolumeClaim,
  type PersistentVolumeSpec,
} from '@tinkernetes/api';
import { isNotFound } from '@tinkernetes/apimachinery';
import { eventually } from '@tinkernetes/component-base/testing';
import { startTestManager, type TestManager } from './testing/test-manager';

const namespace = 'default';
let manager: TestManager;

beforeAll(async () => {
  manager = await startTestManager();
  const classes = manager.client.for(StorageClasses);
  await classes.create({
    metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: 'hostpath.tinkernetes.dev',
  });
  await classes.create({
    metadata: { name: 'late' },
    provisioner: 'hostpath.tinkernetes.dev',
    volumeBindingMode: 'WaitForFirstConsumer',
  });
  await classes.create({ metadata: { name: 'outside' }, provisioner: 'csi.example.com' });
  await manager.client
    .for(Nodes)
    .create({ metadata: { name: 'n1', labels: { 'kubernetes.io/hostname': 'n1' } }, spec: {} });
});
afterAll(() => manager.stop());

const claims = () => manager.client.for(PersistentVolumeClaims);
const volumes = () => manager.client.for(PersistentVolumes);
const createClaim = (name: string, spec: Partial<PersistentVolumeClaim['spec']> = {}) =>
  claims().create(
    {
      metadata: { name },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
    },
    { namespace },
  );
const getClaim = (name: string) => claims().get(name, { namespace });
const boundVolume = async (name: string) => {
  const claim = await eventually(async () => {
    const found = await getClaim(name);
    expect(found.status?.phase).toBe('Bound');
    return found;
  });
  return volumes().get(claim.spec.volumeName ?? '');
};
const messagesOf = async (name: string, reason: string) =>
  (await manager.client.for(Events).list({ namespace })).items
    .filter((e) => e.involvedObject.name === name && e.reason === reason)
    .map((e) => e.message);
const isGone = (get: Promise<unknown>) => get.then(() => false, isNotFound);

it('gives a claim of the default class a directory of the node, and deletes the volume with the claim', async () => {
  const created = await createClaim('data');
  expect(created.spec.storageClassName).toBe('standard');
  const volume = await boundVolume('data');
  expect(volume).toMatchObject({
    metadata: { name: `pvc-${created.metadata.uid}` },
    spec: {
      capacity: { storage: '1Gi' },
      persistentVolumeReclaimPolicy: 'Delete',
      hostPath: { type: 'DirectoryOrCreate' },
      claimRef: { name: 'data', uid: created.metadata.uid },
    },
  });
  expect((await getClaim('data')).status).toMatchObject({
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
  });
  await claims().delete('data', { namespace });
  await eventually(() => isGone(volumes().get(volume.metadata.name)));
});

it('waits for the first consumer, and provisions for the node that the scheduler chose', async () => {
  await createClaim('late', { storageClassName: 'late' });
  await eventually(async () =>
    expect(await messagesOf('late', 'WaitForFirstConsumer')).toEqual([
      'waiting for first consumer to be created before binding',
    ]),
  );
  expect((await getClaim('late')).status?.phase).toBe('Pending');
  await claims().patch(
    'late',
    { metadata: { annotations: { 'volume.kubernetes.io/selected-node': 'n1' } } },
    { type: 'merge', namespace },
  );
  const volume = await boundVolume('late');
  expect(volume.spec.nodeAffinity?.required?.nodeSelectorTerms[0]?.matchExpressions).toEqual([
    { key: 'kubernetes.io/hostname', operator: 'In', values: ['n1'] },
  ]);
});

it('says of a claim whose Pod is not scheduled that it waits for that Pod', async () => {
  await manager.client.for(Pods).create(
    {
      metadata: { name: 'consumer' },
      spec: {
        containers: [{ name: 'main', image: 'nginx' }],
        volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'consumed' } }],
      },
    },
    { namespace },
  );
  await createClaim('consumed', { storageClassName: 'late' });
  await eventually(async () =>
    expect(await messagesOf('consumed', 'WaitForPodScheduled')).toEqual([
      'waiting for pod consumer to be scheduled',
    ]),
  );
});

it('leaves a claim pending that names a volume which does not suit it, and says why', async () => {
  await volumes().create({
    metadata: { name: 'tiny' },
    spec: {
      capacity: { storage: '1Mi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'manual',
      hostPath: { path: '/tmp/tiny' },
    },
  });
  await eventually(async () => expect((await volumes().get('tiny')).status?.phase).toBe('Available'));
  await createClaim('picky', { storageClassName: 'manual', volumeName: 'tiny' });
  await eventually(async () =>
    expect(await messagesOf('picky', 'VolumeMismatch')).toEqual([
      'Cannot bind to requested volume "tiny": requested PV is too small',
    ]),
  );
  expect((await getClaim('picky')).status).toEqual({ phase: 'Pending' });
  const [event] = (await manager.client.for(Events).list({ namespace })).items.filter(
    ({ reason }) => reason === 'VolumeMismatch',
  );
  expect(event?.source).toEqual({ component: 'persistentvolume-controller' });
});

it('says on the Pod that a stranger has the name of its ephemeral claim', async () => {
  await createClaim('guest-scratch');
  const { spec } = await boundVolume('guest-scratch');
  expect(spec.claimRef?.name).toBe('guest-scratch');
  await manager.client.for(Pods).create(
    {
      metadata: { name: 'guest' },
      spec: {
        containers: [{ name: 'main', image: 'nginx' }],
        volumes: [
          {
            name: 'scratch',
            ephemeral: {
              volumeClaimTemplate: {
                spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
              },
            },
          },
        ],
      },
    },
    { namespace },
  );
  await eventually(async () =>
    expect(await messagesOf('guest', 'FailedBinding')).toEqual([
      'ephemeral volume scratch: PVC default/guest-scratch was not created for pod default/guest (pod is not owner)',
    ]),
  );
});

it('binds the smallest volume that is large enough, and releases a retained one', async () => {
  for (const [name, storage] of [
    ['small', '1Gi'],
    ['large', '50Gi'],
    ['medium', '5Gi'],
  ] as const)
    await volumes().create({
      metadata: { name },
      spec: {
        capacity: { storage },
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Retain',
        storageClassName: 'manual',
        hostPath: { path: `/tmp/${name}` },
      },
    });
  await eventually(async () => {
    const phases = await Promise.all(
      ['small', 'medium', 'large'].map(async (n) => (await volumes().get(n)).status?.phase),
    );
    expect(phases).toEqual(['Available', 'Available', 'Available']);
  });
  await createClaim('exact', {
    storageClassName: 'manual',
    resources: { requests: { storage: '2Gi' } },
  });
  expect((await boundVolume('exact')).metadata.name).toBe('medium');
  expect((await getClaim('exact')).status?.capacity).toEqual({ storage: '5Gi' });
  await claims().delete('exact', { namespace });
  await eventually(async () => expect((await volumes().get('medium')).status?.phase).toBe('Released'));
});

it.each([
  ['unknown', 'missing', 'ProvisioningFailed', 'storageclass.storage.k8s.io "missing" not found'],
  [
    'classless',
    '',
    'FailedBinding',
    'no persistent volumes available for this claim and no storage class is set',
  ],
  [
    'foreign',
    'outside',
    'ExternalProvisioning',
    "Waiting for a volume to be created either by the external provisioner 'csi.example.com' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.",
  ],
])('says why the claim %s of class "%s" waits', async (name, storageClassName, reason, message) => {
  await createClaim(name, { storageClassName });
  await eventually(async () => expect(await messagesOf(name, reason)).toEqual([message]));
  expect((await getClaim(name)).status?.phase).toBe('Pending');
});

it.each<[string, Partial<PersistentVolumeSpec>, reason: string, message: string]>([
  [
    'kept-path',
    { hostPath: { path: '/srv/data' }, persistentVolumeReclaimPolicy: 'Delete' },
    'VolumeFailedDelete',
    'host_path deleter only supports /tmp/.+ but received provided /srv/data',
  ],
  [
    'foreign-disk',
    { csi: { driver: 'd.example.com', volumeHandle: 'h' }, persistentVolumeReclaimPolicy: 'Delete' },
    'VolumeFailedDelete',
    'error getting deleter volume plugin for volume "foreign-disk": no deletable volume plugin matched',
  ],
  [
    'recycled',
    { hostPath: { path: '/srv/data' }, persistentVolumeReclaimPolicy: 'Recycle' },
    'VolumeFailedRecycle',
    'No recycler plugin found for the volume!',
  ],
])('says why the volume %s, made by hand, can not be reclaimed', async (name, spec, reason, message) => {
  await volumes().create({
    metadata: { name },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'manual',
      ...spec,
    },
  });
  await createClaim(name, { storageClassName: 'manual', volumeName: name });
  await boundVolume(name);
  await claims().delete(name, { namespace });
  await eventually(async () =>
    expect((await volumes().get(name)).status).toMatchObject({ phase: 'Failed', message }),
  );
  await eventually(async () => expect(await messagesOf(name, reason)).toEqual([message]));
});

it.each([
  ['of its own accord', { 'pv.kubernetes.io/bound-by-controller': 'yes' }, undefined],
  ['by its maker', {}, { name: 'twice' }],
])('frees a volume that was reserved %s for a claim with another volume', async (_, annotations, left) => {
  const claim = await getClaim('twice').catch(() => createClaim('twice'));
  await boundVolume('twice');
  const name = left ? 'second' : 'third';
  const claimRef = { kind: 'PersistentVolumeClaim', namespace, name: 'twice', uid: claim.metadata.uid };
  await volumes().create({
    metadata: { name, annotations },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'manual',
      hostPath: { path: '/tmp/twice' },
      claimRef,
    },
  });
  await eventually(async () => {
    const { spec, status } = await volumes().get(name);
    expect(status?.phase).toBe('Available');
    expect([spec.claimRef?.name, spec.claimRef?.uid]).toEqual([left?.name, undefined]);
  });
});

it('finishes what the scheduler has begun by choosing a volume for a claim', async () => {
  const { metadata } = await createClaim('chosen-for', { storageClassName: 'late' });
  const claimRef = { kind: 'PersistentVolumeClaim', namespace, name: 'chosen-for', uid: metadata.uid };
  await volumes().create({
    metadata: { name: 'chosen' },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'late',
      hostPath: { path: '/tmp/chosen' },
      claimRef,
    },
  });
  expect((await boundVolume('chosen-for')).metadata.name).toBe('chosen');
  await eventually(async () => expect((await volumes().get('chosen')).status?.phase).toBe('Bound'));
});

it('gives a claim from before there was a default class that class', async () => {
  const classes = manager.client.for(StorageClasses);
  const setDefault = (value: string) =>
    classes.patch(
      'standard',
      { metadata: { annotations: { 'storageclass.kubernetes.io/is-default-class': value } } },
      { type: 'merge' },
    );
  await setDefault('false');
  await createClaim('early');
  await eventually(async () => expect(await messagesOf('early', 'FailedBinding')).toHaveLength(1));
  await setDefault('true');
  await boundVolume('early');
  expect((await getClaim('early')).spec.storageClassName).toBe('standard');
});

it('calls a claim lost whose volume is gone', async () => {
  await createClaim('orphan');
  const volume = await boundVolume('orphan');
  await volumes().patch(volume.metadata.name, { metadata: { finalizers: null } }, { type: 'merge' });
  await volumes().delete(volume.metadata.name);
  // Protection may have come back in between; it lets nothing go that is bound.
  await eventually(async () => {
    await volumes()
      .patch(volume.metadata.name, { metadata: { finalizers: null } }, { type: 'merge' })
      .catch(() => undefined);
    expect((await getClaim('orphan')).status).toEqual({ phase: 'Lost' });
  });
  await eventually(async () =>
    expect(await messagesOf('orphan', 'ClaimLost')).toEqual([
      'Bound claim has lost its PersistentVolume. Data on the volume is lost!',
    ]),
  );
});

it('keeps a claim while a Pod uses it, and a volume while it is bound', async () => {
  await createClaim('used');
  const volume = await boundVolume('used');
  await manager.client.for(Pods).create(
    {
      metadata: { name: 'user' },
      spec: {
        nodeName: 'n1',
        containers: [{ name: 'main', image: 'nginx' }],
        volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'used' } }],
      },
    },
    { namespace },
  );
  await eventually(async () => {
    expect((await getClaim('used')).metadata.finalizers).toContain('kubernetes.io/pvc-protection');
    expect((await volumes().get(volume.metadata.name)).metadata.finalizers).toContain(
      'kubernetes.io/pv-protection',
    );
  });
  await volumes().delete(volume.metadata.name);
  await claims().delete('used', { namespace });
  expect((await getClaim('used')).metadata.deletionTimestamp).toBeDefined();
  expect((await volumes().get(volume.metadata.name)).metadata.deletionTimestamp).toBeDefined();
  await manager.client.for(Pods).delete('user', { namespace, gracePeriodSeconds: 0 });
  await eventually(() => isGone(getClaim('used')));
  await eventually(() => isGone(volumes().get(volume.metadata.name)));
});

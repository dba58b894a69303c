import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CSINodes,
  Events,
  Nodes,
  PersistentVolumeClaims,
  PersistentVolumes,
  Pods,
  StorageClasses,
  VolumeAttachments,
  VolumeAttributesClasses,
  type PersistentVolumeClaimSpec,
} from '@tinkernetes/api';
import { ignoreNotFound, isNotFound } from '@tinkernetes/apimachinery';
import { eventually } from '@tinkernetes/component-base/testing';
import { startTestManager, type TestManager } from './testing/test-manager';

const namespace = 'default';
const driver = 'hostpath.csi.tinkernetes.dev';
const stateDir = mkdtempSync(join(tmpdir(), 'tk-csi-volumes-'));
let manager: TestManager;

beforeAll(async () => {
  manager = await startTestManager({ args: [`--hostpath-csi-state-dir=${stateDir}`] });
  const { client } = manager;
  await client
    .for(StorageClasses)
    .create({ metadata: { name: 'csi' }, provisioner: driver, allowVolumeExpansion: true });
  await client.for(StorageClasses).create({
    metadata: { name: 'directory' },
    provisioner: 'hostpath.tinkernetes.dev',
    allowVolumeExpansion: true,
  });
  for (const name of ['n1', 'n2']) {
    await client.for(Nodes).create({ metadata: { name }, spec: {} });
    await client
      .for(CSINodes)
      .create({ metadata: { name }, spec: { drivers: [{ name: driver, nodeID: `${name}-id` }] } });
  }
});
afterAll(async () => {
  await manager?.stop();
  rmSync(stateDir, { recursive: true, force: true });
});

const claims = () => manager.client.for(PersistentVolumeClaims);
const volumes = () => manager.client.for(PersistentVolumes);
const getClaim = (name: string) => claims().get(name, { namespace });
const createClaim = (name: string, spec: Partial<PersistentVolumeClaimSpec> = {}) =>
  claims().create(
    {
      metadata: { name },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'csi',
        resources: { requests: { storage: '1Gi' } },
        ...spec,
      },
    },
    { namespace },
  );
const boundVolume = (name: string) =>
  eventually(async () => {
    const { spec, status } = await getClaim(name);
    expect(status?.phase).toBe('Bound');
    return volumes().get(spec.volumeName ?? '');
  });
const createPod = (name: string, nodeName: string, claimName: string) =>
  manager.client.for(Pods).create(
    {
      metadata: { name },
      spec: {
        nodeName,
        containers: [{ name: 'main', image: 'busybox' }],
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
      },
    },
    { namespace },
  );
const deletePod = (name: string) =>
  manager.client.for(Pods).delete(name, { namespace, gracePeriodSeconds: 0 });
const attachments = async (volumeName: string) =>
  (await manager.client.for(VolumeAttachments).list()).items.filter(
    ({ spec }) => spec.source.persistentVolumeName === volumeName,
  );
const messagesOf = async (name: string, reason: string) =>
  (await manager.client.for(Events).list({ namespace })).items
    .filter((e) => e.involvedObject.name === name && e.reason === reason)
    .map((e) => e.message);
const isGone = (get: Promise<unknown>) => get.then(() => false, isNotFound);
const setInUse = (node: string, volumesInUse: string[]) =>
  manager.client
    .for(Nodes)
    .patch(node, { status: { volumesInUse } }, { type: 'merge', subresource: 'status' });

it('has the driver make a volume for a claim, and remove it with the claim', async () => {
  await createClaim('data');
  const volume = await boundVolume('data');
  expect(volume).toMatchObject({
    metadata: { annotations: { 'pv.kubernetes.io/provisioned-by': driver } },
    spec: {
      capacity: { storage: '1Gi' },
      csi: { driver, volumeHandle: volume.metadata.name },
      persistentVolumeReclaimPolicy: 'Delete',
      claimRef: { name: 'data' },
    },
  });
  expect(existsSync(join(stateDir, volume.metadata.name, 'data'))).toBe(true);
  await claims().delete('data', { namespace });
  await eventually(() => isGone(volumes().get(volume.metadata.name)));
  expect(existsSync(join(stateDir, volume.metadata.name))).toBe(false);
});

it('says what the driver refuses', async () => {
  await createClaim('huge', { resources: { requests: { storage: '2Ti' } } });
  await eventually(async () =>
    expect(await messagesOf('huge', 'ProvisioningFailed')).toContain(
      'failed to provision volume with StorageClass "csi": rpc error: code = OutOfRange desc = Requested capacity 2199023255552 exceeds maximum allowed 1099511627776',
    ),
  );
  await claims().delete('huge', { namespace });
});

it('attaches a volume where its Pod is, to no second node, and moves it when the first has let it go', async () => {
  await createClaim('moves');
  const { metadata, spec } = await boundVolume('moves');
  const uniqueName = `kubernetes.io/csi/${driver}^${spec.csi?.volumeHandle ?? ''}`;
  await createPod('first', 'n1', 'moves');
  await eventually(async () => {
    const [attachment] = await attachments(metadata.name);
    expect(attachment).toMatchObject({
      spec: { attacher: driver, nodeName: 'n1' },
      status: { attached: true },
    });
    const { status } = await manager.client.for(Nodes).get('n1');
    expect(status?.volumesAttached).toEqual([{ name: uniqueName, devicePath: '' }]);
  });
  await eventually(async () =>
    expect(await messagesOf('first', 'SuccessfulAttachVolume')).toEqual([
      `AttachVolume.Attach succeeded for volume "${metadata.name}" `,
    ]),
  );
  await setInUse('n1', [uniqueName]);
  await createPod('second', 'n2', 'moves');
  await eventually(async () =>
    expect(await messagesOf('second', 'FailedAttachVolume')).toEqual([
      `Multi-Attach error for volume "${metadata.name}" Volume is already used by pod(s) first`,
    ]),
  );
  await deletePod('first');
  // A Pod that is gone is no reason yet: the kubelet still uses the volume.
  await createClaim('meanwhile');
  await boundVolume('meanwhile');
  expect((await attachments(metadata.name)).map((a) => a.spec.nodeName)).toEqual(['n1']);
  await setInUse('n1', []);
  await eventually(async () => {
    const found = await attachments(metadata.name);
    expect(found.map((a) => [a.spec.nodeName, a.status?.attached])).toEqual([['n2', true]]);
  });
  await deletePod('second');
  await eventually(async () => expect(await attachments(metadata.name)).toEqual([]));
  await claims().delete('moves', { namespace });
});

it('takes a volume from a node that is declared out of service', async () => {
  await createClaim('stuck');
  const { metadata, spec } = await boundVolume('stuck');
  await createPod('lost', 'n1', 'stuck');
  await eventually(async () => expect((await attachments(metadata.name))[0]?.status?.attached).toBe(true));
  await setInUse('n1', [`kubernetes.io/csi/${driver}^${spec.csi?.volumeHandle ?? ''}`]);
  await deletePod('lost').catch(ignoreNotFound);
  await manager.client
    .for(Nodes)
    .patch(
      'n1',
      { spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] } },
      { type: 'merge' },
    );
  await eventually(async () => expect(await attachments(metadata.name)).toEqual([]));
  await manager.client.for(Nodes).patch('n1', { spec: { taints: null } }, { type: 'merge' });
});

it('grows a volume, and leaves the file system to the node', async () => {
  await createClaim('grows');
  const { metadata } = await boundVolume('grows');
  const resources = { requests: { storage: '3Gi' } };
  await claims().patch('grows', { spec: { resources } }, { type: 'merge', namespace });
  await eventually(async () => {
    expect((await volumes().get(metadata.name)).spec.capacity).toEqual({ storage: '3Gi' });
    expect((await getClaim('grows')).status).toMatchObject({
      capacity: { storage: '1Gi' },
      allocatedResources: { storage: '3Gi' },
      allocatedResourceStatuses: { storage: 'NodeResizePending' },
      conditions: [{ type: 'FileSystemResizePending', status: 'True' }],
    });
  });
  await eventually(async () => {
    expect(await messagesOf('grows', 'ExternalExpanding')).toEqual([
      'waiting for an external controller to expand this PVC',
    ]);
    expect(await messagesOf('grows', 'Resizing')).toEqual([
      `External resizer is resizing volume ${metadata.name}`,
    ]);
  });
});

it('says that a volume can not be as big as asked for', async () => {
  await createClaim('limited');
  const { metadata } = await boundVolume('limited');
  const resources = { requests: { storage: '2Ti' } };
  await claims().patch('limited', { spec: { resources } }, { type: 'merge', namespace });
  await eventually(async () => {
    const { status } = await getClaim('limited');
    expect(status?.allocatedResourceStatuses).toEqual({ storage: 'ControllerResizeInfeasible' });
    const [message] = await messagesOf('limited', 'VolumeResizeFailed');
    expect(message).toContain(
      `resize volume "${metadata.name}" by resizer "${driver}" failed: rpc error: code = OutOfRange`,
    );
  });
});

it('grows a directory at once', async () => {
  await createClaim('dir', { storageClassName: 'directory' });
  const { metadata } = await boundVolume('dir');
  const resources = { requests: { storage: '2Gi' } };
  await claims().patch('dir', { spec: { resources } }, { type: 'merge', namespace });
  await eventually(async () => {
    expect((await volumes().get(metadata.name)).spec.capacity).toEqual({ storage: '2Gi' });
    expect((await getClaim('dir')).status?.capacity).toEqual({ storage: '2Gi' });
  });
});

it('changes the attributes of a volume, and keeps a class that is in use', async () => {
  const classes = manager.client.for(VolumeAttributesClasses);
  await classes.create({ metadata: { name: 'slow' }, driverName: driver, parameters: { iops: '100' } });
  await classes.create({ metadata: { name: 'fast' }, driverName: driver, parameters: { iops: '900' } });
  await classes.create({ metadata: { name: 'odd' }, driverName: driver, parameters: { color: 'red' } });
  await createClaim('tuned', { volumeAttributesClassName: 'slow' });
  const { metadata } = await boundVolume('tuned');
  expect((await getClaim('tuned')).status?.currentVolumeAttributesClassName).toBe('slow');
  const choose = (volumeAttributesClassName: string) =>
    claims().patch('tuned', { spec: { volumeAttributesClassName } }, { type: 'merge', namespace });
  await choose('fast');
  await eventually(async () => {
    expect((await getClaim('tuned')).status?.currentVolumeAttributesClassName).toBe('fast');
    expect((await volumes().get(metadata.name)).spec.volumeAttributesClassName).toBe('fast');
  });
  await choose('odd');
  await eventually(async () =>
    expect((await getClaim('tuned')).status?.modifyVolumeStatus).toEqual({
      status: 'Infeasible',
      targetVolumeAttributesClassName: 'odd',
    }),
  );
  await classes.delete('fast');
  await classes.delete('slow');
  await eventually(() => isGone(classes.get('slow')));
  expect((await classes.get('fast')).metadata.deletionTimestamp).toBeDefined();
  await choose('fast').catch(() => undefined);
  await claims().delete('tuned', { namespace });
  await eventually(() => isGone(classes.get('fast')));
});

it("makes the claims of a Pod's ephemeral volumes, again when they are deleted, and none over another's", async () => {
  await createClaim('mine-taken', { storageClassName: 'directory' });
  const pod = await manager.client.for(Pods).create(
    {
      metadata: { name: 'mine' },
      spec: {
        containers: [{ name: 'main', image: 'busybox' }],
        volumes: ['scratch', 'taken'].map((name) => ({
          name,
          ephemeral: {
            volumeClaimTemplate: {
              metadata: { labels: { kind: 'scratch' } },
              spec: {
                accessModes: ['ReadWriteOnce' as const],
                storageClassName: 'directory',
                resources: { requests: { storage: '1Gi' } },
              },
            },
          },
        })),
      },
    },
    { namespace },
  );
  const scratch = await eventually(() => getClaim('mine-scratch'));
  expect(scratch.metadata).toMatchObject({
    labels: { kind: 'scratch' },
    ownerReferences: [{ kind: 'Pod', name: 'mine', uid: pod.metadata.uid, controller: true }],
  });
  expect((await getClaim('mine-taken')).metadata.ownerReferences).toBeUndefined();
  await claims().delete('mine-scratch', { namespace });
  await eventually(async () =>
    expect((await getClaim('mine-scratch')).metadata.uid).not.toBe(scratch.metadata.uid),
  );
  await deletePod('mine');
  await eventually(() => isGone(getClaim('mine-scratch')));
});

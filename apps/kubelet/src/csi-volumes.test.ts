import {
  CSIDrivers,
  CSINodes,
  Events,
  Nodes,
  PersistentVolumeClaims,
  PersistentVolumes,
  Pods,
  VolumeAttachments,
  type Container,
  type Pod,
  type Volume,
} from '@tinkernetes/api';
import { isNotFound } from '@tinkernetes/apimachinery';
import { eventually } from '@tinkernetes/component-base/testing';
import {
  createCsiClient,
  serveCsi,
  type CsiServices,
  serveHostPathController,
  serveHostPathNode,
  type CsiServer,
  type NodePublishRequest,
} from '@tinkernetes/csi';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, realpath, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KubeletFixture, nodeName } from './testing/kubelet-fixture';

const namespace = 'default';
type Mode = 'Filesystem' | 'Block';
const driver = 'hostpath.csi.tinkernetes.dev';

describe('volumes of a CSI driver', () => {
  let kubelet: KubeletFixture;
  const servers: CsiServer[] = [];
  const stateDir = () => join(kubelet.directory, 'volumes');
  const root = () => join(kubelet.directory, 'root');

  const serveNode = async () => {
    const server = await serveHostPathNode({
      endpoint: `unix://${join(kubelet.directory, 'node.sock')}`,
      stateDir: stateDir(),
      perNode: false,
      nodeId: 'storage-id-of-node-1',
      registrationDir: join(root(), 'plugins_registry'),
    });
    servers.push(server);
  };

  beforeAll(async () => {
    kubelet = await KubeletFixture.create();
    await kubelet.start();
    await kubelet.assignPodCIDR();
    servers.push(
      await serveHostPathController({
        endpoint: `unix://${join(kubelet.directory, 'controller.sock')}`,
        stateDir: stateDir(),
        perNode: false,
      }),
    );
    await kubelet.client.for(CSIDrivers).create({
      metadata: { name: driver },
      spec: { attachRequired: true, podInfoOnMount: true, volumeLifecycleModes: ['Persistent', 'Ephemeral'] },
    });
  });
  afterAll(async () => {
    await kubelet?.close();
    for (const server of servers) server.close();
  });

  const socketOf = (name: string) => join(kubelet.directory, `${name}.sock`);
  async function serveDriver(name: string, node: CsiServices['node']): Promise<void> {
    const endpoint = `unix://${socketOf(name)}`;
    const server = await serveCsi(endpoint, {
      node: { nodeGetInfo: () => Promise.resolve({ nodeId: name }), ...node },
      registration: {
        getInfo: () =>
          Promise.resolve({
            type: 'CSIPlugin',
            name,
            endpoint: socketOf(name),
            supportedVersions: ['1.0.0'],
          }),
        notifyRegistrationStatus: () => Promise.resolve({}),
      },
    });
    servers.push(server);
  }
  const registerDriver = (name: string) =>
    symlink(socketOf(name), join(root(), `plugins_registry/${name}.sock`));

  /** What provisioner, binder and attach/detach controller do. */
  async function createVolume(
    name: string,
    volumeMode: Mode = 'Filesystem',
    by: string = driver,
  ): Promise<Volume> {
    const { client } = kubelet;
    const calls = createCsiClient('controller', `unix://${join(kubelet.directory, 'controller.sock')}`);
    await calls.createVolume({
      name,
      volumeCapabilities: [
        { [volumeMode === 'Block' ? 'block' : 'mount']: {}, accessMode: { mode: 'SINGLE_NODE_WRITER' } },
      ],
    });
    calls.close();
    const storage = '1Gi';
    await client.for(PersistentVolumes).create({
      metadata: { name },
      spec: {
        capacity: { storage },
        volumeMode,
        accessModes: ['ReadWriteOnce'],
        csi: { driver: by, volumeHandle: name },
        claimRef: { namespace, name },
      },
    });
    await client.for(PersistentVolumeClaims).create(
      {
        metadata: { name },
        spec: {
          volumeMode,
          accessModes: ['ReadWriteOnce'],
          storageClassName: '',
          volumeName: name,
          resources: { requests: { storage } },
        },
      },
      { namespace },
    );
    await client
      .for(PersistentVolumeClaims)
      .patch(
        name,
        { status: { phase: 'Bound', capacity: { storage } } },
        { type: 'merge', namespace, subresource: 'status' },
      );
    return { name: 'data', persistentVolumeClaim: { claimName: name } };
  }
  async function attach(...volumes: string[]): Promise<void> {
    const { client } = kubelet;
    for (const name of volumes) {
      const hash = createHash('sha256').update(`${name}${driver}${nodeName}`).digest('hex');
      const attachment = await client.for(VolumeAttachments).create({
        metadata: { name: `csi-${hash}` },
        spec: { attacher: driver, nodeName, source: { persistentVolumeName: name } },
      });
      await client.for(VolumeAttachments).updateStatus({ ...attachment, status: { attached: true } });
    }
    const { status } = await client.for(Nodes).get(nodeName);
    const volumesAttached = [
      ...(status?.volumesAttached ?? []),
      ...volumes.map((name) => ({ name: uniqueName(name), devicePath: '' })),
    ];
    await client
      .for(Nodes)
      .patch(nodeName, { status: { volumesAttached } }, { type: 'merge', subresource: 'status' });
  }
  const uniqueName = (handle: string) => `kubernetes.io/csi/${driver}^${handle}`;
  const inUse = async () => (await kubelet.client.for(Nodes).get(nodeName)).status?.volumesInUse ?? [];
  const create = (name: string, volume: Volume) =>
    kubelet.create(name, {
      volumes: [volume],
      containers: [
        { name: `${name}-main`, image: 'busybox', volumeMounts: [{ name: volume.name, mountPath: '/data' }] },
      ],
    });
  const remove = async (name: string) => {
    await kubelet.client.for(Pods).delete(name, { namespace, gracePeriodSeconds: 1 });
    await eventually(() =>
      kubelet.get(name).then(() => Promise.reject(new Error('still there')), isNotFound),
    );
  };
  const messagesOf = async (name: string, reason: string) =>
    (await kubelet.client.for(Events).list({ namespace })).items
      .filter((e) => e.involvedObject.name === name && e.reason === reason)
      .map((e) => e.message);
  const mountOf = (pod: Pod, volume: string) =>
    join(root(), 'pods', pod.metadata.uid ?? '', 'volumes/kubernetes.io~csi', volume, 'mount');
  const staged = async () =>
    readdir(join(root(), 'plugins/kubernetes.io/csi', driver)).catch(() => [] as string[]);

  it('wait for their driver, which shows on the Node as soon as it has come', async () => {
    await create('early', await createVolume('pv-early'));
    await eventually(async () =>
      expect(await messagesOf('early', 'FailedMount')).toContain(
        `MountVolume.SetUp failed for volume "data" : kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name ${driver} not found in the list of registered CSI drivers`,
      ),
    );
    await serveNode();
    const { spec, metadata } = await eventually(() => kubelet.client.for(CSINodes).get(nodeName));
    expect(spec.drivers).toEqual([expect.objectContaining({ name: driver, nodeID: 'storage-id-of-node-1' })]);
    expect(metadata.ownerReferences).toEqual([expect.objectContaining({ kind: 'Node', name: nodeName })]);
    const node = await kubelet.client.for(Nodes).get(nodeName);
    expect(node.metadata.annotations?.['csi.volume.kubernetes.io/nodeid']).toBe(
      JSON.stringify({ [driver]: 'storage-id-of-node-1' }),
    );
    await attach('pv-early');
    await kubelet.phase('early', 'Running');
    await remove('early');
  });

  it('are reported in use, mounted once attached, and taken away with their Pod, their data left alone', async () => {
    const created = await create('web', await createVolume('pv-web'));
    await eventually(async () => expect(await inUse()).toEqual([uniqueName('pv-web')]));
    expect(await staged()).toEqual([]);
    await attach('pv-web');
    await kubelet.phase('web', 'Running');
    const mount = mountOf(created, 'pv-web');
    const { mounts = [] } = kubelet.runtime.container('web-main')?.config ?? {};
    expect(mounts.find((m) => m.containerPath === '/data')?.hostPath).toBe(mount);
    expect(await realpath(mount)).toBe(await realpath(join(stateDir(), 'pv-web/data')));
    expect(JSON.parse(await readFile(join(mount, '../vol_data.json'), 'utf8'))).toEqual({
      specVolID: 'pv-web',
      volumeHandle: 'pv-web',
      driverName: driver,
      nodeName,
      attachmentID: `csi-${createHash('sha256').update(`pv-web${driver}${nodeName}`).digest('hex')}`,
      volumeLifecycleMode: 'Persistent',
    });
    expect(await staged()).toEqual([createHash('sha256').update('pv-web').digest('hex')]);
    await writeFile(join(mount, 'file'), 'kept');
    await remove('web');
    await eventually(async () => expect(await inUse()).toEqual([]));
    expect(await staged()).toEqual([]);
    expect(existsSync(mount)).toBe(false);
    expect(await readFile(join(stateDir(), 'pv-web/data/file'), 'utf8')).toBe('kept');
  });

  it('stay staged while another Pod of the node uses them', async () => {
    const volume = await createVolume('pv-shared');
    await attach('pv-shared');
    await create('one', volume);
    const other = await create('two', volume);
    await kubelet.phase('one', 'Running');
    await kubelet.phase('two', 'Running');
    await remove('one');
    expect(await staged()).toHaveLength(1);
    expect(existsSync(mountOf(other, 'pv-shared'))).toBe(true);
    await remove('two');
    await eventually(async () => expect(await staged()).toEqual([]));
  });

  it('grow on the node when they have grown at the controller', async () => {
    const volume = await createVolume('pv-grows');
    await attach('pv-grows');
    await create('grows', volume);
    await kubelet.phase('grows', 'Running');
    const { client } = kubelet;
    const storage = '3Gi';
    await client
      .for(PersistentVolumes)
      .patch('pv-grows', { spec: { capacity: { storage } } }, { type: 'merge' });
    // Past admission, which looks for a class that allows it.
    await kubelet.apiServer.stores.for(PersistentVolumeClaims).modify('pv-grows', namespace, (claim) => ({
      ...claim,
      spec: { ...claim.spec, resources: { requests: { storage } } },
      status: {
        ...claim.status,
        conditions: [{ type: 'FileSystemResizePending', status: 'True' as const }],
      },
    }));
    // Any change of the Pod has it looked at before its time.
    await client
      .for(Pods)
      .patch('grows', { metadata: { labels: { look: 'again' } } }, { type: 'merge', namespace });
    await eventually(async () => {
      const { status } = await client.for(PersistentVolumeClaims).get('pv-grows', { namespace });
      expect(status?.capacity).toEqual({ storage });
      expect(status?.conditions ?? []).toEqual([]);
    });
    await remove('grows');
  });

  it('of mode Block are disks in their containers, also for the next kubelet, and go with their Pod', async () => {
    const volume = await createVolume('pv-disk', 'Block');
    await attach('pv-disk');
    const disk = { name: 'disk', image: 'busybox' };
    const created = await kubelet.create('disk', {
      volumes: [volume],
      containers: [{ ...disk, volumeDevices: [{ name: 'data', devicePath: '/dev/xvda' }] }],
    });
    await kubelet.phase('disk', 'Running');
    const uid = created.metadata.uid ?? '';
    const link = join(root(), 'pods', uid, 'volumeDevices/kubernetes.io~csi/pv-disk');
    const config = kubelet.runtime.container('disk')?.config;
    expect(config?.devices).toEqual([{ containerPath: '/dev/xvda', hostPath: link, permissions: 'mrw' }]);
    expect(config?.mounts.map(({ containerPath }) => containerPath)).not.toContain('/dev/xvda');
    expect((await stat(link)).size).toBe(1024 ** 3);
    const devices = join(root(), 'plugins/kubernetes.io/csi/volumeDevices');
    expect(existsSync(join(devices, 'publish/pv-disk', uid))).toBe(true);
    expect(JSON.parse(await readFile(join(devices, 'pv-disk/data/vol_data.json'), 'utf8'))).toMatchObject({
      specVolID: 'pv-disk',
      volumeMode: 'Block',
    });
    await kubelet.stop();
    await kubelet.start();
    await remove('disk');
    await eventually(async () => expect(await inUse()).toEqual([]));
    expect(existsSync(link)).toBe(false);
    expect(existsSync(join(devices, 'pv-disk'))).toBe(false);
    expect(existsSync(join(devices, 'publish/pv-disk'))).toBe(false);
  });

  it('of mode Block leave nothing behind where their driver stages nothing', async () => {
    const name = 'plain.example.com';
    await serveDriver(name, {
      nodeGetCapabilities: () => Promise.resolve({ capabilities: [] }),
      nodePublishVolume: async ({ targetPath }) => {
        await writeFile(targetPath, '');
        return {};
      },
      nodeUnpublishVolume: () => Promise.resolve({}),
    });
    await kubelet.client
      .for(CSIDrivers)
      .create({ metadata: { name }, spec: { attachRequired: false, volumeLifecycleModes: ['Persistent'] } });
    await registerDriver(name);
    const volume = await createVolume('pv-plain', 'Block', name);
    await kubelet.create('plain', {
      volumes: [volume],
      containers: [
        { name: 'plain', image: 'busybox', volumeDevices: [{ name: 'data', devicePath: '/dev/xvda' }] },
      ],
    });
    await kubelet.phase('plain', 'Running');
    const devices = join(root(), 'plugins/kubernetes.io/csi/volumeDevices');
    expect(existsSync(join(devices, 'pv-plain/data/vol_data.json'))).toBe(true);
    await remove('plain');
    await eventually(() => expect(existsSync(join(devices, 'pv-plain'))).toBe(false));
  });

  it.each<[Mode, Partial<Container>, string]>([
    ['Block', { volumeMounts: [{ name: 'data', mountPath: '/data' }] }, 'volumeMounts'],
    ['Filesystem', { volumeDevices: [{ name: 'data', devicePath: '/dev/xvda' }] }, 'volumeDevices'],
  ])('of mode %s are refused where %j uses them', async (mode, use, field) => {
    const name = `wrong-${mode.toLowerCase()}`;
    const volume = await createVolume(name, mode);
    await attach(name);
    await kubelet.create(name, {
      volumes: [volume],
      containers: [{ name, image: 'busybox', ...use }],
    });
    await eventually(async () =>
      expect(await messagesOf(name, 'FailedMount')).toContain(
        `MountVolume.SetUp failed for volume "data" : volume data has volumeMode ${mode}, but is specified in ${field}`,
      ),
    );
    await remove(name);
  });

  it('tell their driver of the Pod, with tokens of its service account, where it asks for them', async () => {
    const asked: NodePublishRequest[] = [];
    await serveDriver('told.example.com', {
      nodeGetCapabilities: () => Promise.resolve({ capabilities: [{ rpc: { type: 'VOLUME_MOUNT_GROUP' } }] }),
      nodePublishVolume: async (request) => {
        asked.push(request);
        await mkdir(request.targetPath);
        return {};
      },
      nodeUnpublishVolume: () => Promise.resolve({}),
    });
    await kubelet.client.for(CSIDrivers).create({
      metadata: { name: 'told.example.com' },
      spec: {
        attachRequired: false,
        podInfoOnMount: true,
        requiresRepublish: true,
        tokenRequests: [{ audience: 'vault', expirationSeconds: 600 }],
        volumeLifecycleModes: ['Ephemeral'],
      },
    });
    await registerDriver('told.example.com');
    await kubelet.create('told', {
      serviceAccountName: 'default',
      securityContext: { fsGroup: 2000 },
      volumes: [{ name: 'scratch', csi: { driver: 'told.example.com', volumeAttributes: { own: 'value' } } }],
      containers: [
        { name: 'told-main', image: 'busybox', volumeMounts: [{ name: 'scratch', mountPath: '/data' }] },
      ],
    });
    await kubelet.phase('told', 'Running');
    const { volumeContext = {}, volumeCapability } = asked[0] ?? {};
    expect(volumeCapability?.mount?.volumeMountGroup).toBe('2000');
    expect(volumeContext).toMatchObject({
      own: 'value',
      'csi.storage.k8s.io/pod.name': 'told',
      'csi.storage.k8s.io/pod.namespace': namespace,
      'csi.storage.k8s.io/serviceAccount.name': 'default',
      'csi.storage.k8s.io/ephemeral': 'true',
    });
    const tokens = JSON.parse(volumeContext['csi.storage.k8s.io/serviceAccount.tokens'] ?? '{}') as Record<
      string,
      { token: string; expirationTimestamp: string }
    >;
    expect(Object.keys(tokens)).toEqual(['vault']);
    const claims = JSON.parse(
      Buffer.from(tokens['vault']?.token.split('.')[1] ?? '', 'base64url').toString(),
    ) as { aud: string[]; 'kubernetes.io': { pod: { name: string } } };
    expect(claims).toMatchObject({ aud: ['vault'], 'kubernetes.io': { pod: { name: 'told' } } });
    // Asked again, as it wants: a kubelet looks at a Pod whenever it changes.
    const times = asked.length;
    await kubelet.client
      .for(Pods)
      .patch('told', { metadata: { labels: { look: 'again' } } }, { type: 'merge', namespace });
    await eventually(() => expect(asked.length).toBeGreaterThan(times));
    await remove('told');
  });

  it('that a Pod describes itself are made and removed with it', async () => {
    const created = await create('inline', { name: 'scratch', csi: { driver } });
    await kubelet.phase('inline', 'Running');
    const mount = mountOf(created, 'scratch');
    const data = await realpath(mount);
    expect(data).toContain(await realpath(stateDir()));
    await remove('inline');
    expect(existsSync(data)).toBe(false);
  });

  it('are taken over by the next kubelet, which cleans up after Pods that went meanwhile', async () => {
    const stays = await create('stays', { name: 'data', persistentVolumeClaim: { claimName: 'pv-web' } });
    await kubelet.phase('stays', 'Running');
    const volume = await createVolume('pv-gone');
    await attach('pv-gone');
    const gone = await create('gone', volume);
    await kubelet.phase('gone', 'Running');
    await kubelet.stop();
    await kubelet.client.for(Pods).delete('gone', { namespace, gracePeriodSeconds: 0 });
    await kubelet.start();
    await eventually(async () => {
      expect(existsSync(mountOf(gone, 'pv-gone'))).toBe(false);
      expect(await inUse()).toEqual([uniqueName('pv-web')]);
    });
    expect(existsSync(mountOf(stays, 'pv-web'))).toBe(true);
    expect(await readFile(join(mountOf(stays, 'pv-web'), 'file'), 'utf8')).toBe('kept');
    await remove('stays');
    await eventually(async () => expect(await inUse()).toEqual([]));
  });
});

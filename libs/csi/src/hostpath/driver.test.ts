import { mkdir, mkdtemp, open, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCsiClient, type CsiClient } from '../client';
import type { CsiServer } from '../server';
import type { CreateVolumeRequest, VolumeCapability } from '../types';
import { serveHostPathController, serveHostPathNode } from './driver';

const mounted: VolumeCapability = { mount: { fsType: 'ext4' }, accessMode: { mode: 'SINGLE_NODE_WRITER' } };
const request = (name: string, more: Partial<CreateVolumeRequest> = {}): CreateVolumeRequest => ({
  name,
  volumeCapabilities: [mounted],
  capacityRange: { requiredBytes: 1024 ** 3 },
  ...more,
});

describe.each([
  ['one disk for all nodes', false],
  ['a disk on each node', true],
])('the hostpath driver over gRPC, %s', (_title, perNode) => {
  let directory: string;
  const servers: CsiServer[] = [];
  let controller: CsiClient<'controller'>;
  let node: CsiClient<'node'>;
  const clients: { close(): void }[] = [];
  const socket = (name: string) => `unix://${join(directory, `${name}.sock`)}`;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tk-csi-'));
    const stateDir = join(directory, 'volumes');
    servers.push(
      await serveHostPathController({ endpoint: socket('c'), stateDir, perNode }),
      await serveHostPathNode({
        endpoint: socket('n'),
        stateDir: perNode ? join(directory, 'disk') : stateDir,
        perNode,
        nodeId: 'node-1',
        registrationDir: join(directory, 'plugins_registry'),
      }),
    );
    controller = createCsiClient('controller', socket('c'));
    node = createCsiClient('node', socket('n'));
    clients.push(controller, node);
  });
  afterAll(async () => {
    for (const client of clients) client.close();
    for (const server of servers) server.close();
    await rm(directory, { recursive: true, force: true });
  });
  const accessibilityRequirements = {
    preferred: [{ segments: { 'topology.hostpath.csi.tinkernetes.dev/node': 'node-1' } }],
  };
  const create = async (name: string, more: Partial<CreateVolumeRequest> = {}) =>
    (await controller.createVolume(request(name, { accessibilityRequirements, ...more }))).volume;

  it('makes itself known to the kubelet', async () => {
    const link = join(directory, 'plugins_registry/hostpath.csi.tinkernetes.dev-reg.sock');
    const registration = createCsiClient('registration', `unix://${await readlink(link)}`);
    clients.push(registration);
    expect(await registration.getInfo({})).toEqual({
      type: 'CSIPlugin',
      name: 'hostpath.csi.tinkernetes.dev',
      endpoint: join(directory, 'n.sock'),
      supportedVersions: ['1.0.0'],
    });
    expect((await node.nodeGetInfo({})).nodeId).toBe('node-1');
  });

  it('keeps the data of a volume while it is staged, published, taken away and published again', async () => {
    const { volumeId = '', accessibleTopology = [] } = (await create('pvc-1')) ?? {};
    expect(accessibleTopology).toHaveLength(perNode ? 1 : 0);
    const staging = join(directory, 'staging');
    const target = join(directory, 'pod/mount');
    const publish = { volumeId, stagingTargetPath: staging, targetPath: target, volumeCapability: mounted };
    // The kubelet makes the staging directory as a mount point.
    await mkdir(staging);
    for (const text of ['first', 'second']) {
      await node.nodeStageVolume(publish);
      await node.nodePublishVolume(publish);
      await node.nodePublishVolume(publish);
      await writeFile(join(target, text), text);
      await node.nodeUnpublishVolume({ volumeId, targetPath: target });
      await node.nodeUnstageVolume({ volumeId, stagingTargetPath: staging });
      await expect(readFile(join(target, text))).rejects.toThrow('ENOENT');
    }
    await node.nodePublishVolume(publish);
    expect(await readFile(join(target, 'first'), 'utf8')).toBe('first');
    await node.nodeUnpublishVolume({ volumeId, targetPath: target });
  });

  it('makes a volume once for a name, and refuses it in another size', async () => {
    const first = await create('pvc-2');
    expect(await create('pvc-2')).toEqual(first);
    await expect(create('pvc-2', { capacityRange: { requiredBytes: 2 * 1024 ** 3 } })).rejects.toMatchObject({
      code: 'ALREADY_EXISTS',
    });
  });

  it('attaches a volume to one node at a time, and deletes it only when it is free', async () => {
    await create('pvc-3');
    const attach = (nodeId: string) =>
      controller.controllerPublishVolume({ volumeId: 'pvc-3', nodeId, volumeCapability: mounted });
    await attach('node-1');
    await attach('node-1');
    await expect(attach('node-2')).rejects.toMatchObject({
      code: 'FAILED_PRECONDITION',
      message: 'volume pvc-3 is already attached to node node-1',
    });
    await expect(controller.deleteVolume({ volumeId: 'pvc-3' })).rejects.toMatchObject({
      code: 'FAILED_PRECONDITION',
    });
    await controller.controllerUnpublishVolume({ volumeId: 'pvc-3', nodeId: 'node-1' });
    await attach('node-2');
    await controller.controllerUnpublishVolume({ volumeId: 'pvc-3', nodeId: '' });
    await controller.deleteVolume({ volumeId: 'pvc-3' });
    await controller.deleteVolume({ volumeId: 'pvc-3' });
    await expect(attach('node-1')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('attaches a volume to one of many nodes that ask at the same time', async () => {
    await create('pvc-race');
    const nodes = Array.from({ length: 8 }, (_, i) => `node-${i}`);
    const answers = await Promise.allSettled(
      nodes.map((nodeId) =>
        controller.controllerPublishVolume({ volumeId: 'pvc-race', nodeId, volumeCapability: mounted }),
      ),
    );
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('grows a volume and changes its parameters', async () => {
    await create('pvc-4');
    const grown = await controller.controllerExpandVolume({
      volumeId: 'pvc-4',
      capacityRange: { requiredBytes: 5 * 1024 ** 3 },
    });
    expect(grown).toEqual({ capacityBytes: 5 * 1024 ** 3, nodeExpansionRequired: true });
    await controller.controllerModifyVolume({ volumeId: 'pvc-4', mutableParameters: { iops: '500' } });
    await expect(
      controller.controllerModifyVolume({ volumeId: 'pvc-4', mutableParameters: { color: 'red' } }),
    ).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  it('makes what a Pod describes itself, and removes it with the Pod', async () => {
    const target = join(directory, 'inline/mount');
    const publish = {
      volumeId: 'csi-inline',
      stagingTargetPath: '',
      targetPath: target,
      volumeCapability: mounted,
      volumeContext: { 'csi.storage.k8s.io/ephemeral': 'true' },
    };
    await node.nodePublishVolume(publish);
    await writeFile(join(target, 'file'), 'x');
    await node.nodeUnpublishVolume({ volumeId: 'csi-inline', targetPath: target });
    await node.nodePublishVolume(publish);
    await expect(readFile(join(target, 'file'))).rejects.toThrow('ENOENT');
  });

  it('shows a block volume as a disk of its size, which grows and keeps its bytes', async () => {
    const block: VolumeCapability = { block: {}, accessMode: { mode: 'SINGLE_NODE_WRITER' } };
    const created = await create('pvc-block', { volumeCapabilities: [block] });
    const target = join(directory, 'publish/pod-uid');
    const publish = {
      volumeId: 'pvc-block',
      stagingTargetPath: join(directory, 'block-staging'),
      targetPath: target,
      volumeCapability: block,
      volumeContext: created?.volumeContext ?? {},
    };
    await node.nodeStageVolume(publish);
    await node.nodePublishVolume(publish);
    expect((await stat(target)).size).toBe(1024 ** 3);
    await writeFile(target, 'bytes', { flag: 'r+' });
    const capacityRange = { requiredBytes: 2 * 1024 ** 3 };
    await controller.controllerExpandVolume({ volumeId: 'pvc-block', capacityRange });
    await node.nodeExpandVolume({ volumeId: 'pvc-block', volumePath: target, capacityRange });
    expect((await stat(target)).size).toBe(2 * 1024 ** 3);
    await node.nodeUnpublishVolume({ volumeId: 'pvc-block', targetPath: target });
    await expect(stat(target)).rejects.toThrow('ENOENT');
    await node.nodePublishVolume(publish);
    const disk = await open(target, 'r');
    const { buffer } = await disk.read(Buffer.alloc(5), 0, 5, 0).finally(() => disk.close());
    expect(buffer.toString()).toBe('bytes');
    await expect(node.nodePublishVolume({ ...publish, volumeCapability: mounted })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
    await expect(create('pvc-block')).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    await node.nodeUnpublishVolume({ volumeId: 'pvc-block', targetPath: target });
  });

  it.each<[string, Partial<CreateVolumeRequest>, string]>([
    ['', {}, 'INVALID_ARGUMENT'],
    ['../../etc', {}, 'INVALID_ARGUMENT'],
    ['both', { volumeCapabilities: [{ block: {} }, mounted] }, 'INVALID_ARGUMENT'],
    ['none', { volumeCapabilities: [] }, 'INVALID_ARGUMENT'],
    ['big', { capacityRange: { requiredBytes: 2 * 1024 ** 4 } }, 'OUT_OF_RANGE'],
    ['tuned', { mutableParameters: { color: 'red' } }, 'INVALID_ARGUMENT'],
  ])('refuses a volume %j %j', async (name, more, code) => {
    await expect(create(name, more)).rejects.toMatchObject({ code });
  });
});

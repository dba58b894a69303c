import { statfs } from 'node:fs/promises';
import { CsiError } from '../csi-error';
import type { NodeStageRequest, Service } from '../types';
import { linkTo, unlinkFrom } from './links';
import { sizeKey, topologyKey } from './names';
import type { VolumeStore } from './volume-store';

/** Set by the kubelet for volumes that a Pod itself describes. */
const ephemeralContext = 'csi.storage.k8s.io/ephemeral';

export interface NodeOptions {
  store: VolumeStore;
  nodeId: string;
  perNode: boolean;
}

/** Shows volumes at the paths where the kubelet wants them. Source: CSI v1, Node Service RPC. */
export function createNode({ store, nodeId, perNode }: NodeOptions): Partial<Service<'node'>> {
  /** A node with a disk of its own has the volume when it is first used there. */
  const ensure = async ({ volumeId, volumeCapability, volumeContext }: NodeStageRequest): Promise<void> => {
    if (!perNode || (await store.find(volumeId))) {
      await store.get(volumeId);
      return;
    }
    const capacityBytes = Number(volumeContext?.[sizeKey] ?? 0);
    const isBlock = volumeCapability?.block ? { isBlock: true } : {};
    await store.put({
      volumeId,
      capacityBytes,
      parameters: {},
      mutableParameters: {},
      nodes: [],
      ...isBlock,
    });
  };
  const isEphemeral = (context: Record<string, string> | undefined): boolean =>
    context?.[ephemeralContext] === 'true';

  return {
    nodeGetInfo: () =>
      Promise.resolve({
        nodeId,
        maxVolumesPerNode: 0,
        accessibleTopology: perNode ? { segments: { [topologyKey]: nodeId } } : null,
      }),
    nodeGetCapabilities: () =>
      Promise.resolve({
        capabilities: (['STAGE_UNSTAGE_VOLUME', 'EXPAND_VOLUME', 'GET_VOLUME_STATS'] as const).map(
          (type) => ({ rpc: { type } }),
        ),
      }),

    async nodeStageVolume(request) {
      const { volumeId, stagingTargetPath, volumeCapability } = request;
      need('Staging target path', stagingTargetPath);
      await ensure(request);
      // A device is used as it is.
      if (!volumeCapability?.block) await linkTo(store.dataOf(volumeId), stagingTargetPath);
      return {};
    },
    async nodeUnstageVolume({ stagingTargetPath }) {
      need('Staging target path', stagingTargetPath);
      await unlinkFrom(stagingTargetPath);
      return {};
    },

    async nodePublishVolume({ volumeId, targetPath, volumeCapability, volumeContext }) {
      need('Target path', targetPath);
      if (!volumeCapability?.mount && !volumeCapability?.block)
        throw new CsiError('INVALID_ARGUMENT', 'Volume capability missing in request');
      if (volumeCapability.block && isEphemeral(volumeContext))
        throw new CsiError('INVALID_ARGUMENT', 'a volume that a Pod describes is no block device');
      if (isEphemeral(volumeContext) && !(await store.find(volumeId)))
        await store.put({
          volumeId,
          capacityBytes: 0,
          parameters: volumeContext ?? {},
          mutableParameters: {},
          nodes: [],
          ephemeral: true,
        });
      const { isBlock = false } = await store.get(volumeId);
      if (isBlock !== Boolean(volumeCapability.block))
        throw new CsiError('INVALID_ARGUMENT', `volume ${volumeId} has another access type`);
      await linkTo(isBlock ? store.diskOf(volumeId) : store.dataOf(volumeId), targetPath);
      return {};
    },
    async nodeUnpublishVolume({ volumeId, targetPath }) {
      need('Target path', targetPath);
      await unlinkFrom(targetPath);
      if ((await store.find(volumeId))?.ephemeral) await store.remove(volumeId);
      return {};
    },

    async nodeExpandVolume({ volumeId, capacityRange }) {
      const record = await store.get(volumeId);
      const capacityBytes = Math.max(record.capacityBytes, capacityRange?.requiredBytes ?? 0);
      if (record.isBlock && capacityBytes > record.capacityBytes)
        await store.put({ ...record, capacityBytes });
      return { capacityBytes };
    },
    async nodeGetVolumeStats({ volumeId, volumePath }) {
      const { isBlock, capacityBytes } = await store.get(volumeId);
      if (isBlock) return { usage: [{ unit: 'BYTES', total: capacityBytes, available: 0, used: 0 }] };
      const { bsize, blocks, bavail, files, ffree } = await statfs(volumePath);
      return {
        usage: [
          {
            unit: 'BYTES',
            total: blocks * bsize,
            available: bavail * bsize,
            used: (blocks - bavail) * bsize,
          },
          { unit: 'INODES', total: files, available: ffree, used: files - ffree },
        ],
      };
    },
  };
}

function need(what: string, value: string): void {
  if (!value) throw new CsiError('INVALID_ARGUMENT', `${what} missing in request`);
}

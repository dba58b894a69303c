import { statfs } from 'node:fs/promises';
import { CsiError } from '../csi-error';
import type { Service } from '../types';
import { linkTo, unlinkFrom } from './links';
import { topologyKey } from './names';
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
  const ensure = async (volumeId: string): Promise<void> => {
    if (!perNode || (await store.find(volumeId))) {
      await store.get(volumeId);
      return;
    }
    await store.put({ volumeId, capacityBytes: 0, parameters: {}, mutableParameters: {}, nodes: [] });
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

    async nodeStageVolume({ volumeId, stagingTargetPath }) {
      need('Staging target path', stagingTargetPath);
      await ensure(volumeId);
      await linkTo(store.dataOf(volumeId), stagingTargetPath);
      return {};
    },
    async nodeUnstageVolume({ stagingTargetPath }) {
      need('Staging target path', stagingTargetPath);
      await unlinkFrom(stagingTargetPath);
      return {};
    },

    async nodePublishVolume({ volumeId, targetPath, volumeCapability, volumeContext }) {
      need('Target path', targetPath);
      if (!volumeCapability?.mount)
        throw new CsiError('INVALID_ARGUMENT', 'only volumes that are mounted as file systems are supported');
      if (isEphemeral(volumeContext) && !(await store.find(volumeId)))
        await store.put({
          volumeId,
          capacityBytes: 0,
          parameters: volumeContext ?? {},
          mutableParameters: {},
          nodes: [],
          ephemeral: true,
        });
      await store.get(volumeId);
      await linkTo(store.dataOf(volumeId), targetPath);
      return {};
    },
    async nodeUnpublishVolume({ volumeId, targetPath }) {
      need('Target path', targetPath);
      await unlinkFrom(targetPath);
      if ((await store.find(volumeId))?.ephemeral) await store.remove(volumeId);
      return {};
    },

    async nodeExpandVolume({ volumeId, capacityRange }) {
      await store.get(volumeId);
      return { capacityBytes: capacityRange?.requiredBytes ?? 0 };
    },
    async nodeGetVolumeStats({ volumeId, volumePath }) {
      await store.get(volumeId);
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

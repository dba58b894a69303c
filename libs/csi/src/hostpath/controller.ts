import { KeyedLock } from '@tinkernetes/component-base';
import { CsiError } from '../csi-error';
import type { CreateVolumeRequest, Service, Topology, VolumeCapability } from '../types';
import { sizeKey, topologyKey } from './names';
import type { VolumeRecord, VolumeStore } from './volume-store';

const defaultCapacity = 1024 ** 3;
const maxCapacity = 1024 ** 4;
/** What a VolumeAttributesClass may set. */
const mutableNames: ReadonlySet<string> = new Set(['iops', 'throughput']);

/** Access modes that allow one node only. */
const singleNode: ReadonlySet<string> = new Set([
  'SINGLE_NODE_WRITER',
  'SINGLE_NODE_READER_ONLY',
  'SINGLE_NODE_SINGLE_WRITER',
  'SINGLE_NODE_MULTI_WRITER',
]);

export interface ControllerOptions {
  store: VolumeStore;
  /** Volumes can be used on one node only: the one that they are made for. */
  perNode: boolean;
}

/** Makes, attaches, grows and removes volumes. Source: CSI v1, Controller Service RPC. */
export function createController({ store, perNode }: ControllerOptions): Partial<Service<'controller'>> {
  /** What reads a volume's record and writes it must be alone with it: two nodes may ask at the same time. */
  const locks = new KeyedLock();
  const alone =
    <Request extends { volumeId: string }, Answer>(work: (request: Request) => Promise<Answer>) =>
    (request: Request): Promise<Answer> =>
      locks.run(request.volumeId, () => work(request));
  return {
    controllerGetCapabilities: () =>
      Promise.resolve({
        capabilities: (
          ['CREATE_DELETE_VOLUME', 'PUBLISH_UNPUBLISH_VOLUME', 'EXPAND_VOLUME', 'MODIFY_VOLUME'] as const
        ).map((type) => ({ rpc: { type } })),
      }),

    async createVolume(request) {
      const { name, parameters = {}, mutableParameters = {} } = request;
      if (!name) throw new CsiError('INVALID_ARGUMENT', 'Name missing in request');
      checkCapabilities(request.volumeCapabilities ?? []);
      checkMutable(mutableParameters);
      const capacityBytes = capacityOf(request);
      const accessibleTopology = perNode ? [placeOf(request)] : [];
      return locks.run(name, async () => {
        const known = await store.find(name);
        if (known && known.capacityBytes < capacityBytes)
          throw new CsiError(
            'ALREADY_EXISTS',
            `Volume with the same name: ${name} but with different size already exist`,
          );
        const isBlock = request.volumeCapabilities?.some(({ block }) => block) ?? false;
        if (known && (known.isBlock ?? false) !== isBlock)
          throw new CsiError(
            'ALREADY_EXISTS',
            `Volume with the same name: ${name} but with different access type already exist`,
          );
        const record = known ?? {
          volumeId: name,
          capacityBytes,
          parameters,
          mutableParameters,
          nodes: [],
          ...(isBlock ? { isBlock } : {}),
        };
        if (!known) await store.put(record);
        return {
          volume: {
            volumeId: record.volumeId,
            capacityBytes: record.capacityBytes,
            volumeContext: {
              ...record.parameters,
              ...(isBlock ? { [sizeKey]: String(record.capacityBytes) } : {}),
            },
            accessibleTopology,
          },
        };
      });
    },

    deleteVolume: alone(async ({ volumeId }) => {
      const known = await store.find(volumeId);
      if (known?.nodes.length)
        throw new CsiError(
          'FAILED_PRECONDITION',
          `volume ${volumeId} is still attached to node ${known.nodes.join(', ')}`,
        );
      await store.remove(volumeId);
      return {};
    }),

    controllerPublishVolume: alone(async ({ volumeId, nodeId, volumeCapability }) => {
      const record = await store.get(volumeId);
      if (record.nodes.includes(nodeId)) return { publishContext: {} };
      if (record.nodes.length > 0 && singleNode.has(volumeCapability?.accessMode?.mode ?? ''))
        throw new CsiError(
          'FAILED_PRECONDITION',
          `volume ${volumeId} is already attached to node ${record.nodes.join(', ')}`,
        );
      await store.put({ ...record, nodes: [...record.nodes, nodeId] });
      return { publishContext: {} };
    }),

    controllerUnpublishVolume: alone(async ({ volumeId, nodeId }) => {
      const record = await store.find(volumeId);
      if (!record) return {};
      await store.put({ ...record, nodes: record.nodes.filter((id) => nodeId !== '' && id !== nodeId) });
      return {};
    }),

    controllerExpandVolume: alone(async ({ volumeId, capacityRange }) => {
      const record = await store.get(volumeId);
      const capacityBytes = Math.max(record.capacityBytes, capacityRange?.requiredBytes ?? 0);
      checkCapacity(capacityBytes);
      if (capacityBytes > record.capacityBytes) await store.put({ ...record, capacityBytes });
      return { capacityBytes, nodeExpansionRequired: true };
    }),

    controllerModifyVolume: alone(async ({ volumeId, mutableParameters = {} }) => {
      checkMutable(mutableParameters);
      const record: VolumeRecord = await store.get(volumeId);
      await store.put({ ...record, mutableParameters });
      return {};
    }),
  };
}

function checkCapabilities(capabilities: readonly VolumeCapability[]): void {
  if (capabilities.length === 0)
    throw new CsiError('INVALID_ARGUMENT', 'Volume Capabilities missing in request');
  if (capabilities.some(({ block }) => block) && capabilities.some(({ mount }) => mount))
    throw new CsiError('INVALID_ARGUMENT', 'cannot have both block and mount access type');
}

function checkMutable(parameters: Record<string, string>): void {
  const unknown = Object.keys(parameters).find((name) => !mutableNames.has(name));
  if (unknown !== undefined)
    throw new CsiError(
      'INVALID_ARGUMENT',
      `parameter ${unknown} can't be changed: only iops, throughput can`,
    );
}

function capacityOf({ capacityRange }: CreateVolumeRequest): number {
  const capacity = capacityRange?.requiredBytes || defaultCapacity;
  checkCapacity(capacity);
  return capacity;
}

function checkCapacity(capacity: number): void {
  if (capacity > maxCapacity)
    throw new CsiError(
      'OUT_OF_RANGE',
      `Requested capacity ${capacity} exceeds maximum allowed ${maxCapacity}`,
    );
}

function placeOf({ accessibilityRequirements }: CreateVolumeRequest): Topology {
  const { preferred = [], requisite = [] } = accessibilityRequirements ?? {};
  const place = [...preferred, ...requisite].find(({ segments }) => segments[topologyKey] !== undefined);
  if (!place)
    throw new CsiError(
      'RESOURCE_EXHAUSTED',
      'no node was chosen for the volume, and it can be used on one only',
    );
  return { segments: { [topologyKey]: place.segments[topologyKey] ?? '' } };
}

import {
  PersistentVolumeClaims,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
} from '@tinkernetes/api';
import { Quantity } from '@tinkernetes/apimachinery';
import type { Client } from '@tinkernetes/client';
import type { PodEvents } from '../../runtime/pod-events';
import type { CsiDriverConnection } from './csi-drivers';
import type { VolumePlace } from './csi-paths';
import { capabilityOf } from './csi-requests';

/** Conditions of a claim that is being grown. */
const pending = ['Resizing', 'FileSystemResizePending'];

export interface GrowthDeps {
  client: Client;
  events: PodEvents;
  nodeName: string;
}

export interface ClaimedVolume {
  claim: PersistentVolumeClaim;
  volume: PersistentVolume;
}

/**
 * The node's part of growing a volume, where the controller's is done: the file system, and what the claim says it has.
 * Source: pkg/volume/util/operationexecutor/node_expander.go.
 */
export async function growOnNode(
  { client, events, nodeName }: GrowthDeps,
  pod: Pod,
  {
    claim,
    volume,
    connection,
    place,
  }: ClaimedVolume & { connection: CsiDriverConnection; place: VolumePlace },
): Promise<void> {
  const storage = volume.spec.capacity?.['storage'] ?? '0';
  const size = Quantity.parse(storage);
  const has = Quantity.tryParse(claim.status?.capacity?.['storage']) ?? size;
  if (size.compare(has) <= 0) return;
  if (connection.capabilities.has('EXPAND_VOLUME')) {
    const { volumeHandle = '', fsType } = volume.spec.csi ?? {};
    await connection.node.nodeExpandVolume({
      volumeId: volumeHandle,
      volumePath: place.target,
      stagingTargetPath: place.staging,
      capacityRange: { requiredBytes: size.value() },
      volumeCapability: capabilityOf(volume, fsType),
    });
  }
  const { name, namespace } = claim.metadata;
  const status = {
    capacity: { ...claim.status?.capacity, storage },
    allocatedResourceStatuses: null,
    conditions: claim.status?.conditions?.filter(({ type }) => !pending.includes(type)) ?? [],
  };
  await client
    .for(PersistentVolumeClaims)
    .patch(name, { status }, { type: 'merge', namespace, subresource: 'status' });
  const message = `MountVolume.NodeExpandVolume succeeded for volume "${volume.metadata.name}" ${nodeName}`;
  events.pod(pod, 'Normal', 'FileSystemResizeSuccessful', message);
}

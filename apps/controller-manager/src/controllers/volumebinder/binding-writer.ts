import {
  PersistentVolumeClaims,
  PersistentVolumes,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type PersistentVolumeStatus,
  type StorageClass,
} from '@tinkernetes/api';
import { ignoreNotFound } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import type { ControllerContext } from '../../manager/context';
import { sameStatus } from '../shared/same-status';
import { bindCompleted, boundByController } from './annotations';

/** Writes what the binder decides into volumes and claims, and says to a claim's user why. */
export class BindingWriter {
  constructor(private readonly context: Pick<ControllerContext, 'client' | 'clock' | 'recorder'>) {}

  /** Both sides refer to each other, the volume first: a crash in between is found and finished. */
  async bind(volume: PersistentVolume, claim: PersistentVolumeClaim): Promise<void> {
    const { client } = this.context;
    const { namespace } = claim.metadata;
    const trace = client.traceOf(claim);
    let bound = volume;
    if (volume.spec.claimRef?.uid !== claim.metadata.uid) {
      const isOurChoice = !volume.spec.claimRef;
      bound = await client.for(PersistentVolumes).update(
        {
          ...volume,
          metadata: {
            ...volume.metadata,
            annotations: {
              ...volume.metadata.annotations,
              ...(isOurChoice ? { [boundByController]: 'yes' } : {}),
            },
          },
          spec: { ...volume.spec, claimRef: referenceTo(claim) },
        },
        { trace },
      );
    }
    await this.writeVolumeStatus(bound, { phase: 'Bound' });
    let current = claim;
    if (claim.spec.volumeName !== volume.metadata.name || !claim.metadata.annotations?.[bindCompleted]) {
      const isOurChoice = !claim.spec.volumeName;
      current = await client.for(PersistentVolumeClaims).update(
        {
          ...claim,
          metadata: {
            ...claim.metadata,
            annotations: {
              ...claim.metadata.annotations,
              [bindCompleted]: 'yes',
              ...(isOurChoice ? { [boundByController]: 'yes' } : {}),
            },
          },
          spec: { ...claim.spec, volumeName: volume.metadata.name },
        },
        { namespace, trace },
      );
    }
    // What a bound claim has may differ from its volume for a while: a file system that is still to be grown.
    if (current.status?.phase === 'Bound') return;
    const attributesClass = volume.spec.volumeAttributesClassName;
    await this.writeClaimStatus(current, {
      ...current.status,
      phase: 'Bound',
      accessModes: volume.spec.accessModes,
      capacity: volume.spec.capacity,
      ...(attributesClass ? { currentVolumeAttributesClassName: attributesClass } : {}),
    });
  }

  /** A claim from before there was a default class. */
  async assignClass(claim: PersistentVolumeClaim, { metadata }: StorageClass): Promise<void> {
    const assigned = { ...claim, spec: { ...claim.spec, storageClassName: metadata.name } };
    await this.context.client
      .for(PersistentVolumeClaims)
      .update(assigned, { namespace: claim.metadata.namespace });
  }

  /** Without a volume it has no size and no modes, either. */
  setPhase(claim: PersistentVolumeClaim, phase: 'Pending' | 'Lost'): Promise<void> {
    const { accessModes: _modes, capacity: _capacity, ...status } = claim.status ?? {};
    return this.writeClaimStatus(claim, { ...status, phase });
  }

  private async writeClaimStatus(
    claim: PersistentVolumeClaim,
    status: NonNullable<PersistentVolumeClaim['status']>,
  ): Promise<void> {
    if (sameStatus(claim.status, status)) return;
    const { namespace } = claim.metadata;
    await this.context.client
      .for(PersistentVolumeClaims)
      .updateStatus({ ...claim, status }, { namespace })
      .catch(ignoreNotFound);
  }

  /** The volume as it is then. */
  async writeVolumeStatus(
    volume: PersistentVolume,
    { phase, message }: Pick<PersistentVolumeStatus, 'phase' | 'message'>,
  ): Promise<PersistentVolume> {
    if (volume.status?.phase === phase) return volume;
    const lastPhaseTransitionTime = formatTime(this.context.clock.now());
    const written = await this.context.client
      .for(PersistentVolumes)
      .updateStatus({ ...volume, status: { phase, message, lastPhaseTransitionTime } })
      .catch(ignoreNotFound);
    return written ?? volume;
  }

  tell(claim: PersistentVolumeClaim, reason: string, message: string): void {
    this.context.recorder.event(claim, 'Normal', reason, message);
  }

  warn(claim: PersistentVolumeClaim, reason: string, message: string): void {
    this.context.recorder.event(claim, 'Warning', reason, message);
  }
}

const referenceTo = ({ metadata }: PersistentVolumeClaim) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  namespace: metadata.namespace,
  name: metadata.name,
  uid: metadata.uid,
  resourceVersion: metadata.resourceVersion,
});

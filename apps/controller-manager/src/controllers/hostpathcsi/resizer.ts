import {
  PersistentVolumeClaims,
  PersistentVolumes,
  VolumeAttributesClasses,
  type PersistentVolume,
  type PersistentVolumeClaim,
} from '@tinkernetes/api';
import { ignoreNotFound, keyOf, Quantity } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import type { Reconciler } from '@tinkernetes/controller';
import type { ControllerContext } from '../../manager/context';
import { sameStatus } from '../shared/same-status';
import { wantsToGrow } from '../volumeexpand/expand-controller';
import {
  grown,
  isInfeasible,
  waitingForNode,
  wantsToChange,
  withCondition,
  withoutConditions,
  type Status,
} from './claim-status';
import { driverName, type DriverPlugin } from './plugin';
import { describe } from './provisioner';
import { bytesOf, capabilityOf } from './volume-object';

/**
 * Has the driver grow volumes, and change their attributes, as claims ask for it; the kubelet does the node's part.
 * Watches claims, volumes and VolumeAttributesClasses; writes volumes and claims' statuses.
 * Source: kubernetes-csi/external-resizer.
 */
export class Resizer implements Reconciler {
  readonly name = 'hostpath-csi-resizer';
  private readonly claims;
  private readonly volumes;
  private readonly attributes;

  constructor(
    private readonly context: ControllerContext,
    private readonly plugin: DriverPlugin,
    enqueue: (key: string) => void,
  ) {
    const { informers } = context;
    this.claims = informers.for(PersistentVolumeClaims);
    this.volumes = informers.for(PersistentVolumes);
    this.attributes = informers.for(VolumeAttributesClasses);
    const onClaim = (claim: PersistentVolumeClaim) => {
      if (wantsToGrow(claim) || wantsToChange(claim)) enqueue(keyOf(claim));
    };
    this.claims.addEventHandler({ added: onClaim, updated: (_, claim) => onClaim(claim) });
    this.attributes.addEventHandler({ added: () => this.claims.lister.list().forEach(onClaim) });
  }

  async reconcile(key: string): Promise<void> {
    const claim = this.claims.lister.getByKey(key);
    const volume = this.volumes.lister.get(claim?.spec.volumeName ?? '');
    if (!claim || volume?.spec.csi?.driver !== driverName) return;
    if (wantsToGrow(claim)) await this.grow(claim, volume);
    // A write may have come in between: what it left is looked at when it shows.
    else if (wantsToChange(claim)) await this.change(claim, volume);
  }

  private async grow(claim: PersistentVolumeClaim, volume: PersistentVolume): Promise<void> {
    const { client, recorder } = this.context;
    const wanted = claim.spec.resources?.requests?.['storage'] ?? '0';
    const isGrown = bytesOf(volume.spec.capacity?.['storage']) >= bytesOf(wanted);
    if (isGrown) {
      // The rest is the kubelet's.
      await this.writeStatus(claim, waitingForNode(claim, wanted, this.now()));
      return;
    }
    if (claim.status?.allocatedResourceStatuses?.['storage'] === 'ControllerResizeInfeasible') {
      if (String(claim.status.allocatedResources?.['storage']) === String(wanted)) return;
    }
    recorder.event(
      claim,
      'Normal',
      'Resizing',
      `External resizer is resizing volume ${volume.metadata.name}`,
    );
    const current = await this.writeStatus(claim, {
      ...claim.status,
      allocatedResources: { ...claim.status?.allocatedResources, storage: wanted },
      allocatedResourceStatuses: { storage: 'ControllerResizeInProgress' },
      conditions: withCondition(claim, { type: 'Resizing', status: 'True', lastTransitionTime: this.now() }),
    });
    try {
      const { csi, accessModes: [mode = ''] = [] } = volume.spec;
      const { capacityBytes, nodeExpansionRequired } = await (
        await this.plugin.calls()
      ).controllerExpandVolume({
        volumeId: csi?.volumeHandle ?? '',
        capacityRange: { requiredBytes: bytesOf(wanted) },
        volumeCapability: capabilityOf(volume.spec, mode, csi?.fsType),
      });
      const storage = Quantity.ofValue(capacityBytes, 'BinarySI').toString();
      await client
        .for(PersistentVolumes)
        .patch(volume.metadata.name, { spec: { capacity: { storage } } }, { type: 'merge' });
      if (nodeExpansionRequired) {
        await this.writeStatus(current, waitingForNode(current, wanted, this.now()));
        recorder.event(
          claim,
          'Normal',
          'FileSystemResizeRequired',
          'Require file system resize of volume on node',
        );
        return;
      }
      await this.writeStatus(current, grown(current, storage));
      recorder.event(claim, 'Normal', 'VolumeResizeSuccessful', 'Resize volume succeeded');
    } catch (error) {
      recorder.event(
        claim,
        'Warning',
        'VolumeResizeFailed',
        `resize volume "${volume.metadata.name}" by resizer "${driverName}" failed: ${describe(error)}`,
      );
      if (!isInfeasible(error)) throw error;
      await this.writeStatus(current, {
        ...current.status,
        allocatedResourceStatuses: { storage: 'ControllerResizeInfeasible' },
      });
    }
  }

  private async change(claim: PersistentVolumeClaim, volume: PersistentVolume): Promise<void> {
    const { client, recorder } = this.context;
    const target = claim.spec.volumeAttributesClassName ?? '';
    const attributes = this.attributes.lister.get(target);
    const state = claim.status?.modifyVolumeStatus;
    if (state?.status === 'Infeasible' && state.targetVolumeAttributesClassName === target) return;
    if (!attributes) {
      await this.writeStatus(claim, {
        ...claim.status,
        modifyVolumeStatus: { status: 'Pending', targetVolumeAttributesClassName: target },
      });
      recorder.event(claim, 'Warning', 'VolumeModifyFailed', `VAC ${target} does not exist`);
      return;
    }
    recorder.event(
      claim,
      'Normal',
      'VolumeModify',
      `external resizer is modifying volume ${claim.metadata.name} with vac ${target}`,
    );
    const current = await this.writeStatus(claim, {
      ...claim.status,
      modifyVolumeStatus: { status: 'InProgress', targetVolumeAttributesClassName: target },
      conditions: withCondition(claim, {
        type: 'ModifyingVolume',
        status: 'True',
        message: 'ModifyVolume operation in progress.',
        lastTransitionTime: this.now(),
      }),
    });
    try {
      await (
        await this.plugin.calls()
      ).controllerModifyVolume({
        volumeId: volume.spec.csi?.volumeHandle ?? '',
        mutableParameters: attributes.parameters ?? {},
      });
    } catch (error) {
      recorder.event(claim, 'Warning', 'VolumeModifyFailed', describe(error));
      if (!isInfeasible(error)) throw error;
      await this.writeStatus(current, {
        ...current.status,
        modifyVolumeStatus: { status: 'Infeasible', targetVolumeAttributesClassName: target },
        conditions: withCondition(current, {
          type: 'ModifyVolumeError',
          status: 'True',
          message: `ModifyVolume failed with error. ${describe(error)}`,
          lastTransitionTime: this.now(),
        }),
      });
      return;
    }
    await client
      .for(PersistentVolumes)
      .patch(volume.metadata.name, { spec: { volumeAttributesClassName: target } }, { type: 'merge' });
    await this.writeStatus(current, {
      ...current.status,
      currentVolumeAttributesClassName: target,
      modifyVolumeStatus: undefined,
      conditions: withoutConditions(current, 'ModifyingVolume', 'ModifyVolumeError'),
    });
    recorder.event(
      claim,
      'Normal',
      'VolumeModifySuccessful',
      `external resizer modified volume ${claim.metadata.name} with vac ${target} successfully`,
    );
  }

  /** The claim as it is then. */
  private async writeStatus(claim: PersistentVolumeClaim, status: Status): Promise<PersistentVolumeClaim> {
    if (sameStatus(claim.status, status)) return claim;
    const written = await this.context.client
      .for(PersistentVolumeClaims)
      .updateStatus({ ...claim, status }, { namespace: claim.metadata.namespace })
      .catch(ignoreNotFound);
    return written ?? claim;
  }

  private now(): string {
    return formatTime(this.context.clock.now());
  }
}

import {
  CSINodes,
  PersistentVolumes,
  VolumeAttachments,
  type PersistentVolume,
  type VolumeAttachment,
} from '@tinkernetes/api';
import { ignoreNotFound } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import type { Reconciler } from '@tinkernetes/controller';
import type { ControllerContext } from '../../manager/context';
import { withFinalizer, withoutFinalizer } from '../volumeprotection/finalizer';
import { driverName, type DriverPlugin } from './plugin';
import { describe } from './provisioner';
import { capabilityOf } from './volume-object';

const finalizer = `external-attacher/${driverName.replaceAll('.', '-')}`;
/** The node's id at the driver, for when its CSINode is gone before the volume is detached. */
const nodeIdAnnotation = 'csi.alpha.kubernetes.io/node-id';

/**
 * Has the driver attach and detach what VolumeAttachments say. Watches them, volumes and CSINodes; writes
 * VolumeAttachments. Source: kubernetes-csi/external-attacher.
 */
export class Attacher implements Reconciler {
  readonly name = 'hostpath-csi-attacher';
  private readonly attachments;
  private readonly volumes;
  private readonly csiNodes;

  constructor(
    private readonly context: ControllerContext,
    private readonly plugin: DriverPlugin,
    enqueue: (key: string) => void,
  ) {
    const { informers } = context;
    this.attachments = informers.for(VolumeAttachments);
    this.volumes = informers.for(PersistentVolumes);
    this.csiNodes = informers.for(CSINodes);
    const onAttachment = ({ metadata, spec }: VolumeAttachment) => {
      if (spec.attacher === driverName) enqueue(metadata.name);
    };
    this.attachments.addEventHandler({
      added: onAttachment,
      updated: (_, attachment) => onAttachment(attachment),
    });
  }

  async reconcile(name: string): Promise<void> {
    const attachment = this.attachments.lister.get(name);
    if (!attachment) return;
    if (attachment.metadata.deletionTimestamp) await this.detach(attachment);
    else if (!attachment.status?.attached) await this.attach(attachment);
  }

  private async attach(attachment: VolumeAttachment): Promise<void> {
    const client = this.context.client.for(VolumeAttachments);
    let current = attachment;
    try {
      const { handle, volume } = this.volumeOf(attachment);
      const nodeId = this.nodeIdOf(attachment);
      current = withFinalizer(withAnnotation(attachment, nodeIdAnnotation, nodeId), finalizer);
      if (current !== attachment) current = await client.update(current);
      const [mode = ''] = volume.spec.accessModes ?? [];
      const answer = await (
        await this.plugin.calls()
      ).controllerPublishVolume({
        volumeId: handle,
        nodeId,
        volumeCapability: capabilityOf(volume.spec, mode, volume.spec.csi?.fsType),
        readonly: false,
        volumeContext: volume.spec.csi?.volumeAttributes ?? {},
      });
      await client.updateStatus({
        ...current,
        status: { attached: true, attachmentMetadata: answer.publishContext ?? {} },
      });
    } catch (error) {
      const attachError = { message: describe(error), time: this.now() };
      const isNews = attachError.message !== current.status?.attachError?.message;
      if (isNews)
        await client
          .updateStatus({ ...current, status: { ...current.status, attached: false, attachError } })
          .catch(ignoreNotFound);
      throw error;
    }
  }

  private async detach(attachment: VolumeAttachment): Promise<void> {
    if (!attachment.metadata.finalizers?.includes(finalizer)) return;
    const client = this.context.client.for(VolumeAttachments);
    try {
      const nodeId = attachment.metadata.annotations?.[nodeIdAnnotation] ?? this.nodeIdOf(attachment);
      const { handle } = this.volumeOf(attachment);
      await (await this.plugin.calls()).controllerUnpublishVolume({ volumeId: handle, nodeId });
    } catch (error) {
      const detachError = { message: describe(error), time: this.now() };
      await client
        .updateStatus({
          ...attachment,
          status: { ...attachment.status, attached: attachment.status?.attached ?? false, detachError },
        })
        .catch(ignoreNotFound);
      throw error;
    }
    await client.update(withoutFinalizer(attachment, finalizer)).catch(ignoreNotFound);
  }

  private volumeOf({ spec }: VolumeAttachment): { handle: string; volume: PersistentVolume } {
    const name = spec.source.persistentVolumeName ?? '';
    const volume = this.volumes.lister.get(name);
    const handle = volume?.spec.csi?.volumeHandle;
    if (!volume || handle === undefined) throw new Error(`persistentvolume "${name}" not found`);
    return { handle, volume };
  }

  private nodeIdOf({ spec }: VolumeAttachment): string {
    const driver = this.csiNodes.lister
      .get(spec.nodeName)
      ?.spec.drivers.find(({ name }) => name === driverName);
    if (!driver) throw new Error(`CSINode ${spec.nodeName} does not contain driver ${driverName}`);
    return driver.nodeID;
  }

  private now(): string {
    return formatTime(this.context.clock.now());
  }
}

function withAnnotation(attachment: VolumeAttachment, name: string, value: string): VolumeAttachment {
  const { annotations } = attachment.metadata;
  if (annotations?.[name] === value) return attachment;
  return {
    ...attachment,
    metadata: { ...attachment.metadata, annotations: { ...annotations, [name]: value } },
  };
}

import {
  CSINodes,
  Nodes,
  PersistentVolumeClaims,
  PersistentVolumes,
  StorageClasses,
  VolumeAttributesClasses,
  type PersistentVolume,
  type PersistentVolumeClaim,
} from '@tinkernetes/api';
import { ignoreNotFound, isAlreadyExists, keyOf } from '@tinkernetes/apimachinery';
import type { Reconciler } from '@tinkernetes/controller';
import type { ControllerContext } from '../../manager/context';
import { withoutFinalizer } from '../volumeprotection/finalizer';
import { isForgotten, isOurs, isReleased, mayProvision, selectedNode } from './claims-and-volumes';
import type { DriverPlugin } from './plugin';
import {
  createRequest,
  provisionerFinalizer,
  volumeNameOf,
  volumeObject,
  type ProvisionFacts,
} from './volume-object';

const volumePrefix = 'volume/';

/**
 * Has the driver make volumes for claims, and remove those that are released. Watches claims, volumes, classes and
 * nodes; writes volumes. Source: kubernetes-csi/external-provisioner, sig-storage-lib-external-provisioner.
 */
export class Provisioner implements Reconciler {
  readonly name = 'hostpath-csi-provisioner';
  private readonly claims;
  private readonly volumes;
  private readonly classes;
  private readonly attributes;
  private readonly nodes;
  private readonly csiNodes;

  constructor(
    private readonly context: ControllerContext,
    private readonly plugin: DriverPlugin,
    enqueue: (key: string) => void,
  ) {
    const { informers } = context;
    this.claims = informers.for(PersistentVolumeClaims);
    this.volumes = informers.for(PersistentVolumes);
    this.classes = informers.for(StorageClasses);
    this.attributes = informers.for(VolumeAttributesClasses);
    this.nodes = informers.for(Nodes);
    this.csiNodes = informers.for(CSINodes);
    const onClaim = (claim: PersistentVolumeClaim) => {
      if (isOurs(claim)) enqueue(keyOf(claim));
    };
    const onVolume = (volume: PersistentVolume) => {
      if (isReleased(volume) || isForgotten(volume)) enqueue(volumePrefix + volume.metadata.name);
    };
    this.claims.addEventHandler({ added: onClaim, updated: (_, claim) => onClaim(claim) });
    this.volumes.addEventHandler({ added: onVolume, updated: (_, volume) => onVolume(volume) });
  }

  async reconcile(key: string, { signal }: { signal: AbortSignal }): Promise<void> {
    if (key.startsWith(volumePrefix)) {
      const volume = this.volumes.lister.get(key.slice(volumePrefix.length));
      if (volume && isReleased(volume)) await this.remove(volume, signal);
      else if (volume && isForgotten(volume)) await this.forget(volume, signal);
      return;
    }
    const claim = this.claims.lister.getByKey(key);
    if (claim && isOurs(claim)) await this.provision(claim, signal);
  }

  private async provision(claim: PersistentVolumeClaim, signal: AbortSignal): Promise<void> {
    const { client, recorder } = this.context;
    const className = claim.spec.storageClassName ?? '';
    const storageClass = this.classes.lister.get(className);
    if (!storageClass || !mayProvision(claim, storageClass)) return;
    if (this.volumes.lister.get(volumeNameOf(claim))) return;
    const nodeName = claim.metadata.annotations?.[selectedNode] ?? '';
    if (nodeName !== '' && !this.nodes.lister.get(nodeName))
      return this.askForAnotherNode(claim, nodeName, signal);
    const attributesName = claim.spec.volumeAttributesClassName;
    const facts: ProvisionFacts = {
      claim,
      storageClass,
      attributes: attributesName ? this.attributes.lister.get(attributesName) : undefined,
      node: this.nodes.lister.get(nodeName),
      csiNode: this.csiNodes.lister.get(nodeName),
    };
    recorder.event(
      claim,
      'Normal',
      'Provisioning',
      `External provisioner is provisioning volume for claim "${keyOf(claim)}"`,
    );
    try {
      if (attributesName && !facts.attributes)
        throw new Error(`volumeattributesclass.storage.k8s.io "${attributesName}" not found`);
      const { volume } = await (await this.plugin.calls()).createVolume(createRequest(facts));
      if (!volume) throw new Error('the driver answered without a volume');
      const object = volumeObject(facts, volume);
      await client
        .for(PersistentVolumes)
        .create(object, { signal, trace: client.traceOf(claim) })
        .catch((error: unknown) => {
          if (!isAlreadyExists(error)) throw error;
        });
      recorder.event(
        claim,
        'Normal',
        'ProvisioningSucceeded',
        `Successfully provisioned volume ${object.metadata.name}`,
      );
    } catch (error) {
      recorder.event(
        claim,
        'Warning',
        'ProvisioningFailed',
        `failed to provision volume with StorageClass "${className}": ${describe(error)}`,
      );
      throw error;
    }
  }

  /** The scheduler chooses again. Source: sig-storage-lib-external-provisioner rescheduleProvisioning. */
  private async askForAnotherNode(
    claim: PersistentVolumeClaim,
    nodeName: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { client, recorder } = this.context;
    const { name, namespace, uid } = claim.metadata;
    recorder.event(claim, 'Warning', 'ProvisioningFailed', `node "${nodeName}" not found`);
    await client
      .for(PersistentVolumeClaims)
      .patch(
        name,
        { metadata: { uid, annotations: { [selectedNode]: null } } },
        { type: 'merge', namespace, signal },
      )
      .catch(ignoreNotFound);
  }

  private async remove(volume: PersistentVolume, signal: AbortSignal): Promise<void> {
    const { client, recorder } = this.context;
    const { name } = volume.metadata;
    try {
      await (await this.plugin.calls()).deleteVolume({ volumeId: volume.spec.csi?.volumeHandle ?? '' });
    } catch (error) {
      recorder.event(volume, 'Warning', 'VolumeFailedDelete', describe(error));
      throw error;
    }
    await client.for(PersistentVolumes).delete(name, { signal }).catch(ignoreNotFound);
    await this.forget(await client.for(PersistentVolumes).get(name).catch(ignoreNotFound), signal);
  }

  /** Its storage is gone, or is to stay: the object may go. */
  private async forget(volume: PersistentVolume | undefined, signal: AbortSignal): Promise<void> {
    if (!volume) return;
    const next = withoutFinalizer(volume, provisionerFinalizer);
    if (next !== volume)
      await this.context.client.for(PersistentVolumes).update(next, { signal }).catch(ignoreNotFound);
  }
}

/** As Kubernetes shows what a driver says. */
export const describe = (error: unknown): string => {
  const isCsiError = error instanceof Error && error.name === 'CsiError';
  return isCsiError ? error.toString() : error instanceof Error ? error.message : String(error);
};

import {
  Nodes,
  PersistentVolumeClaims,
  PersistentVolumes,
  Pods,
  StorageClasses,
  type PersistentVolume,
  type PersistentVolumeClaim,
} from '@tinkernetes/api';
import { keyOf } from '@tinkernetes/apimachinery';
import type { ReconcileResult, Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { claimsOf } from '../shared/claims-of-pod';
import { hostPathProvisioner, provisionedBy } from './host-path-provisioner';
import { bindCompleted } from './annotations';
import { createBinderMetrics } from './binder-metrics';
import { BindingWriter } from './binding-writer';
import {
  classNameOf,
  defaultClass,
  findVolume,
  isReservedFor,
  mismatchOf,
  namesClass,
  waitsForConsumer,
} from './match';
import { withoutClaim } from './unbound';
import { VolumeProvisioning } from './volume-provisioning';
import { VolumeReclaiming } from './volume-reclaiming';
import { recheckMs, waitingFor } from './waiting';

const selectedNode = 'volume.kubernetes.io/selected-node';
const volumePrefix = 'volume/';
const podIndex = 'podsOfUnboundClaim';

/**
 * Binds claims to volumes and says why it can't. Watches PersistentVolumes, PersistentVolumeClaims and StorageClasses;
 * writes the first two. Source: k8s.io/kubernetes/pkg/controller/volume/persistentvolume.
 */
export function startVolumeBinderController(context: ControllerContext): RunnableController {
  const queue = context.queues.create('persistentvolume');
  const reconciler = new VolumeBinder(context, (key) => queue.add(key));
  return queueController({ context, queue, reconciler, concurrency: 1 });
}

class VolumeBinder implements Reconciler {
  readonly name = 'persistentvolume-binder-controller';
  private readonly claims;
  private readonly volumes;
  private readonly classes;
  private readonly nodes;
  private readonly pods;
  private readonly writer;
  private readonly provisioning;
  private readonly reclaiming;

  constructor(
    private readonly context: ControllerContext,
    private readonly enqueue: (key: string) => void,
  ) {
    const { informers } = context;
    this.claims = informers.for(PersistentVolumeClaims);
    this.volumes = informers.for(PersistentVolumes);
    this.classes = informers.for(StorageClasses);
    this.nodes = informers.for(Nodes);
    this.pods = informers.for(Pods);
    this.pods.addIndex(podIndex, claimsOf);
    const metrics = createBinderMetrics(context.metrics, {
      plugin: hostPathProvisioner,
      now: () => context.clock.monotonic(),
      volumes: this.volumes.lister,
      claims: this.claims.lister,
    });
    this.writer = new BindingWriter(context);
    this.provisioning = new VolumeProvisioning(context.client, this.writer, metrics);
    this.reclaiming = new VolumeReclaiming(context, this.writer, metrics);
    const enqueueVolume = (volume: PersistentVolume) => enqueue(volumePrefix + volume.metadata.name);
    const enqueuePending = () => {
      for (const claim of this.claims.lister.list())
        if (claim.status?.phase !== 'Bound') enqueue(keyOf(claim));
    };
    this.claims.addEventHandler({
      added: (claim) => enqueue(keyOf(claim)),
      updated: (_, claim) => enqueue(keyOf(claim)),
      deleted: (claim) => {
        if (claim.spec.volumeName) enqueue(volumePrefix + claim.spec.volumeName);
      },
    });
    this.volumes.addEventHandler({
      added: (volume) => {
        enqueueVolume(volume);
        enqueuePending();
      },
      updated: (before, volume) => {
        enqueueVolume(volume);
        if (before.status?.phase !== volume.status?.phase) enqueuePending();
      },
      deleted: (volume) => {
        const { namespace, name } = volume.spec.claimRef ?? {};
        if (name) enqueue(`${namespace}/${name}`);
      },
    });
    this.classes.addEventHandler({ added: enqueuePending, updated: enqueuePending });
  }

  async reconcile(key: string): Promise<ReconcileResult | void> {
    if (key.startsWith(volumePrefix)) {
      const volume = this.volumes.lister.get(key.slice(volumePrefix.length));
      return volume ? this.syncVolume(volume) : undefined;
    }
    const claim = this.claims.lister.getByKey(key);
    if (!claim) return;
    if (claim.metadata.annotations?.[bindCompleted]) return this.syncBoundClaim(claim);
    return this.syncUnboundClaim(claim);
  }

  private async syncBoundClaim(claim: PersistentVolumeClaim): Promise<void> {
    if (!claim.spec.volumeName)
      return this.loseClaim(
        claim,
        'ClaimLost',
        'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!',
      );
    const volume = this.volumes.lister.get(claim.spec.volumeName ?? '');
    if (!volume)
      return this.loseClaim(
        claim,
        'ClaimLost',
        'Bound claim has lost its PersistentVolume. Data on the volume is lost!',
      );
    if (volume.spec.claimRef && !isReservedFor(volume, claim))
      return this.loseClaim(
        claim,
        'ClaimMisbound',
        'Two claims are bound to the same volume, this one is bound incorrectly',
      );
    await this.writer.bind(volume, claim);
  }

  private async syncUnboundClaim(claim: PersistentVolumeClaim): Promise<ReconcileResult | void> {
    if (claim.spec.volumeName) return this.syncRequestedVolume(claim);
    const storageClass = this.classes.lister.get(classNameOf(claim));
    const waits = waitsForConsumer(storageClass, claim);
    const node = this.nodes.lister.get(claim.metadata.annotations?.[selectedNode] ?? '');
    const volume = findVolume(claim, this.volumes.lister.list(), { node, onlyReserved: waits });
    if (volume) return this.writer.bind(volume, claim);
    const late = namesClass(claim) ? undefined : defaultClass(this.classes.lister.list());
    if (late) return this.writer.assignClass(claim, late);
    if (waits) {
      const { reason, message } = waitingFor(this.pods.lister.byIndex(podIndex, keyOf(claim)));
      this.writer.tell(claim, reason, message);
      await this.writer.setPhase(claim, 'Pending');
      return { requeueAfterMs: recheckMs };
    }
    await this.writer.setPhase(claim, 'Pending');
    return this.provisioning.provision(claim, storageClass);
  }

  /** A claim that names its volume gets that or none. */
  private async syncRequestedVolume(claim: PersistentVolumeClaim): Promise<ReconcileResult | void> {
    const { volumeName: name = '' } = claim.spec;
    const volume = this.volumes.lister.get(name);
    if (!volume) return this.writer.setPhase(claim, 'Pending');
    const isFree = !volume.spec.claimRef;
    if (!isFree && isReservedFor(volume, claim)) return this.writer.bind(volume, claim);
    const mismatch = isFree ? mismatchOf(volume, claim) : undefined;
    if (isFree && mismatch === undefined) return this.writer.bind(volume, claim);
    if (mismatch !== undefined)
      this.writer.warn(claim, 'VolumeMismatch', `Cannot bind to requested volume "${name}": ${mismatch}`);
    else this.writer.warn(claim, 'FailedBinding', `volume "${name}" already bound to a different claim.`);
    await this.writer.setPhase(claim, 'Pending');
    return { requeueAfterMs: recheckMs };
  }

  private async syncVolume(volume: PersistentVolume): Promise<void> {
    const { claimRef } = volume.spec;
    if (!claimRef?.uid) {
      await this.writer.writeVolumeStatus(volume, { phase: 'Available' });
      return;
    }
    const claim = this.claims.lister.get(claimRef.name ?? '', claimRef.namespace);
    const isForClaim = claim?.metadata.uid === claimRef.uid;
    const boundTo = isForClaim ? claim?.spec.volumeName : undefined;
    // The scheduler has bound it, or its provisioner: the claim's half is still to be written.
    if (claim && isForClaim && !boundTo) return this.enqueue(keyOf(claim));
    if (boundTo === volume.metadata.name) {
      await this.writer.writeVolumeStatus(volume, { phase: 'Bound' });
      return;
    }
    // What was provisioned for a claim that has another volume is of no use; any other is free again.
    const isSpare = volume.metadata.annotations?.[provisionedBy] !== undefined;
    if (isForClaim && !(isSpare && volume.spec.persistentVolumeReclaimPolicy === 'Delete'))
      return this.unbind(volume);
    if (volume.status?.phase === 'Failed') return;
    await this.reclaiming.reclaim(await this.writer.writeVolumeStatus(volume, { phase: 'Released' }));
  }

  private async unbind(volume: PersistentVolume): Promise<void> {
    const free = await this.context.client.for(PersistentVolumes).update(withoutClaim(volume));
    await this.writer.writeVolumeStatus(free, { phase: 'Available' });
  }

  private async loseClaim(claim: PersistentVolumeClaim, reason: string, message: string): Promise<void> {
    if (claim.status?.phase === 'Lost') return;
    this.writer.warn(claim, reason, message);
    await this.writer.setPhase(claim, 'Lost');
  }
}

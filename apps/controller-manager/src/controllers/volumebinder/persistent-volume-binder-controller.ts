import { rm } from 'node:fs/promises';
import {
  Nodes,
  PersistentVolumeClaims,
  PersistentVolumes,
  Pods,
  StorageClasses,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type PersistentVolumeStatus,
  type StorageClass,
} from '@tinkernetes/api';
import { ignoreNotFound, isAlreadyExists, keyOf } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import type { ReconcileResult, Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { sameStatus } from '../shared/same-status';
import { claimsOf } from '../shared/claims-of-pod';
import { hostPathProvisioner, provisionedBy, provisionVolume } from './host-path-provisioner';
import { boundByController } from './annotations';
import { createBinderMetrics } from './binder-metrics';
import {
  classNameOf,
  defaultClass,
  findVolume,
  isReservedFor,
  mismatchOf,
  namesClass,
  waitsForConsumer,
} from './match';
import { driverOf, isInTree } from './provisioners';
import { withoutClaim } from './unbound';
import { waitingFor } from './waiting';

const bindCompleted = 'pv.kubernetes.io/bind-completed';
const provisionerAnnotation = 'volume.kubernetes.io/storage-provisioner';
const selectedNode = 'volume.kubernetes.io/selected-node';
const volumePrefix = 'volume/';
const podIndex = 'podsOfUnboundClaim';
/** Upstream looks at all claims again at this pace, and repeats what it says about those that wait. */
const resyncMs = 15_000;

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
  private readonly metrics;

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
    this.metrics = createBinderMetrics(context.metrics, {
      plugin: hostPathProvisioner,
      now: () => context.clock.monotonic(),
      volumes: this.volumes.lister,
      claims: this.claims.lister,
    });
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
    await this.bind(volume, claim);
  }

  private async syncUnboundClaim(claim: PersistentVolumeClaim): Promise<ReconcileResult | void> {
    if (claim.spec.volumeName) return this.syncRequestedVolume(claim);
    const storageClass = this.classes.lister.get(classNameOf(claim));
    const waits = waitsForConsumer(storageClass, claim);
    const node = this.nodes.lister.get(claim.metadata.annotations?.[selectedNode] ?? '');
    const volume = findVolume(claim, this.volumes.lister.list(), { node, onlyReserved: waits });
    if (volume) return this.bind(volume, claim);
    const late = namesClass(claim) ? undefined : defaultClass(this.classes.lister.list());
    if (late) return this.assignClass(claim, late);
    if (waits) {
      const { reason, message } = waitingFor(this.pods.lister.byIndex(podIndex, keyOf(claim)));
      this.say(claim, 'Normal', reason, message);
      await this.setPhase(claim, 'Pending');
      return { requeueAfterMs: resyncMs };
    }
    await this.setPhase(claim, 'Pending');
    return this.provision(claim, storageClass);
  }

  /** A claim from before there was a default class. */
  private async assignClass(claim: PersistentVolumeClaim, { metadata }: StorageClass): Promise<void> {
    const assigned = { ...claim, spec: { ...claim.spec, storageClassName: metadata.name } };
    await this.context.client
      .for(PersistentVolumeClaims)
      .update(assigned, { namespace: claim.metadata.namespace });
  }

  /** A claim that names its volume gets that or none. */
  private async syncRequestedVolume(claim: PersistentVolumeClaim): Promise<ReconcileResult | void> {
    const { volumeName: name = '' } = claim.spec;
    const volume = this.volumes.lister.get(name);
    if (!volume) return this.setPhase(claim, 'Pending');
    const isFree = !volume.spec.claimRef;
    if (!isFree && isReservedFor(volume, claim)) return this.bind(volume, claim);
    const mismatch = isFree ? mismatchOf(volume, claim) : undefined;
    if (isFree && mismatch === undefined) return this.bind(volume, claim);
    if (mismatch !== undefined)
      this.say(claim, 'Warning', 'VolumeMismatch', `Cannot bind to requested volume "${name}": ${mismatch}`);
    else this.say(claim, 'Warning', 'FailedBinding', `volume "${name}" already bound to a different claim.`);
    await this.setPhase(claim, 'Pending');
    return { requeueAfterMs: resyncMs };
  }

  private async provision(
    claim: PersistentVolumeClaim,
    storageClass: StorageClass | undefined,
  ): Promise<ReconcileResult | void> {
    const { client } = this.context;
    const className = classNameOf(claim);
    if (!className) {
      this.say(
        claim,
        'Normal',
        'FailedBinding',
        'no persistent volumes available for this claim and no storage class is set',
      );
      return { requeueAfterMs: resyncMs };
    }
    if (!storageClass) {
      this.say(
        claim,
        'Warning',
        'ProvisioningFailed',
        `storageclass.storage.k8s.io "${className}" not found`,
      );
      return { requeueAfterMs: resyncMs };
    }
    const provisioner = driverOf(storageClass);
    if (isInTree(provisioner)) {
      this.say(claim, 'Warning', 'ProvisioningFailed', `no volume plugin matched name: ${provisioner}`);
      return { requeueAfterMs: resyncMs };
    }
    if (provisioner === hostPathProvisioner) {
      const volume = provisionVolume(claim, storageClass);
      try {
        await this.metrics.operation('provision', () =>
          client.for(PersistentVolumes).create(volume, { trace: client.traceOf(claim) }),
        );
        this.say(
          claim,
          'Normal',
          'ProvisioningSucceeded',
          `Successfully provisioned volume ${volume.metadata.name}`,
        );
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
      }
      return;
    }
    const { metadata } = claim;
    if (metadata.annotations?.[provisionerAnnotation] !== provisioner) {
      const annotations = { ...metadata.annotations, [provisionerAnnotation]: provisioner };
      await client
        .for(PersistentVolumeClaims)
        .update({ ...claim, metadata: { ...metadata, annotations } }, { namespace: metadata.namespace });
    }
    this.say(
      claim,
      'Normal',
      'ExternalProvisioning',
      `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`,
    );
    return { requeueAfterMs: resyncMs };
  }

  /** Both sides refer to each other, the volume first: a crash in between is found and finished. */
  private async bind(volume: PersistentVolume, claim: PersistentVolumeClaim): Promise<void> {
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

  private async syncVolume(volume: PersistentVolume): Promise<void> {
    const { claimRef } = volume.spec;
    if (!claimRef?.uid) {
      await this.writeVolumeStatus(volume, { phase: 'Available' });
      return;
    }
    const claim = this.claims.lister.get(claimRef.name ?? '', claimRef.namespace);
    const isForClaim = claim?.metadata.uid === claimRef.uid;
    const boundTo = isForClaim ? claim?.spec.volumeName : undefined;
    // The scheduler has bound it, or its provisioner: the claim's half is still to be written.
    if (claim && isForClaim && !boundTo) return this.enqueue(keyOf(claim));
    if (boundTo === volume.metadata.name) {
      await this.writeVolumeStatus(volume, { phase: 'Bound' });
      return;
    }
    // What was provisioned for a claim that has another volume is of no use; any other is free again.
    const isSpare = volume.metadata.annotations?.[provisionedBy] !== undefined;
    if (isForClaim && !(isSpare && volume.spec.persistentVolumeReclaimPolicy === 'Delete'))
      return this.unbind(volume);
    if (volume.status?.phase === 'Failed') return;
    await this.reclaim(await this.writeVolumeStatus(volume, { phase: 'Released' }));
  }

  private async unbind(volume: PersistentVolume): Promise<void> {
    const free = await this.context.client.for(PersistentVolumes).update(withoutClaim(volume));
    await this.writeVolumeStatus(free, { phase: 'Available' });
  }

  /** What becomes of a volume whose claim is gone. */
  private async reclaim(volume: PersistentVolume): Promise<void> {
    const { persistentVolumeReclaimPolicy: policy } = volume.spec;
    if (volume.metadata.deletionTimestamp || policy === 'Retain') return;
    if (policy === 'Recycle') {
      const message = 'No recycler plugin found for the volume!';
      return this.failVolume(volume, 'VolumeFailedRecycle', message);
    }
    const provisioner = volume.metadata.annotations?.[provisionedBy];
    // Its driver's provisioner removes it.
    if (provisioner !== undefined && provisioner !== hostPathProvisioner) return;
    if (provisioner === undefined) {
      const obstacle = obstacleToDeletion(volume);
      if (obstacle !== undefined) return this.failVolume(volume, 'VolumeFailedDelete', obstacle);
      await this.metrics.operation('delete', () =>
        rm(volume.spec.hostPath?.path ?? '', { recursive: true, force: true }),
      );
    }
    await this.context.client.for(PersistentVolumes).delete(volume.metadata.name).catch(ignoreNotFound);
  }

  private async failVolume(volume: PersistentVolume, reason: string, message: string): Promise<void> {
    this.context.recorder.event(volume, 'Warning', reason, message);
    await this.writeVolumeStatus(volume, { phase: 'Failed', message });
  }

  private async loseClaim(claim: PersistentVolumeClaim, reason: string, message: string): Promise<void> {
    if (claim.status?.phase === 'Lost') return;
    this.say(claim, 'Warning', reason, message);
    await this.setPhase(claim, 'Lost');
  }

  /** Without a volume it has no size and no modes, either. */
  private setPhase(claim: PersistentVolumeClaim, phase: 'Pending' | 'Lost'): Promise<void> {
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
  private async writeVolumeStatus(
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

  private say(
    claim: PersistentVolumeClaim,
    type: 'Normal' | 'Warning',
    reason: string,
    message: string,
  ): void {
    this.context.recorder.event(claim, type, reason, message);
  }
}

/** Why what a volume stands for can't be removed that somebody has made by hand. Source: pkg/volume/hostpath, a deleter for development. */
function obstacleToDeletion({ metadata, spec }: PersistentVolume): string | undefined {
  const path = spec.hostPath?.path;
  if (path === undefined)
    return `error getting deleter volume plugin for volume "${metadata.name}": no deletable volume plugin matched`;
  if (/^\/tmp\/.+/.test(path) && !path.split('/').includes('..')) return undefined;
  return `host_path deleter only supports /tmp/.+ but received provided ${path}`;
}

const referenceTo = ({ metadata }: PersistentVolumeClaim) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  namespace: metadata.namespace,
  name: metadata.name,
  uid: metadata.uid,
  resourceVersion: metadata.resourceVersion,
});

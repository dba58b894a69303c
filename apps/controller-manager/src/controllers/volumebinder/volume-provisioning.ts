import {
  PersistentVolumeClaims,
  PersistentVolumes,
  type PersistentVolumeClaim,
  type StorageClass,
} from '@tinkernetes/api';
import { isAlreadyExists } from '@tinkernetes/apimachinery';
import type { Client } from '@tinkernetes/client';
import type { ReconcileResult } from '@tinkernetes/controller';
import type { BinderMetrics } from './binder-metrics';
import type { BindingWriter } from './binding-writer';
import { hostPathProvisioner, provisionVolume } from './host-path-provisioner';
import { classNameOf } from './match';
import { driverOf, isInTree } from './provisioners';
import { recheckMs } from './waiting';

const provisionerAnnotation = 'volume.kubernetes.io/storage-provisioner';

/** Has a volume made for a claim that no volume fits: by the built-in provisioner, or by its class's driver, who is told. */
export class VolumeProvisioning {
  constructor(
    private readonly client: Client,
    private readonly writer: BindingWriter,
    private readonly metrics: BinderMetrics,
  ) {}

  async provision(
    claim: PersistentVolumeClaim,
    storageClass: StorageClass | undefined,
  ): Promise<ReconcileResult | void> {
    const { client } = this;
    const className = classNameOf(claim);
    if (!className) {
      this.writer.tell(
        claim,
        'FailedBinding',
        'no persistent volumes available for this claim and no storage class is set',
      );
      return { requeueAfterMs: recheckMs };
    }
    if (!storageClass) {
      this.writer.warn(claim, 'ProvisioningFailed', `storageclass.storage.k8s.io "${className}" not found`);
      return { requeueAfterMs: recheckMs };
    }
    const provisioner = driverOf(storageClass);
    if (isInTree(provisioner)) {
      this.writer.warn(claim, 'ProvisioningFailed', `no volume plugin matched name: ${provisioner}`);
      return { requeueAfterMs: recheckMs };
    }
    if (provisioner === hostPathProvisioner) {
      const volume = provisionVolume(claim, storageClass);
      try {
        await this.metrics.operation('provision', () =>
          client.for(PersistentVolumes).create(volume, { trace: client.traceOf(claim) }),
        );
        this.writer.tell(
          claim,
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
    this.writer.tell(
      claim,
      'ExternalProvisioning',
      `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`,
    );
    return { requeueAfterMs: recheckMs };
  }
}

import { rm } from 'node:fs/promises';
import { PersistentVolumes, type PersistentVolume } from '@tinkernetes/api';
import { ignoreNotFound } from '@tinkernetes/apimachinery';
import type { ControllerContext } from '../../manager/context';
import type { BinderMetrics } from './binder-metrics';
import type { BindingWriter } from './binding-writer';
import { hostPathProvisioner, provisionedBy } from './host-path-provisioner';

/** Applies a volume's reclaim policy. */
export class VolumeReclaiming {
  constructor(
    private readonly context: Pick<ControllerContext, 'client' | 'recorder'>,
    private readonly writer: BindingWriter,
    private readonly metrics: BinderMetrics,
  ) {}

  /** What becomes of a volume whose claim is gone. */
  async reclaim(volume: PersistentVolume): Promise<void> {
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
    await this.writer.writeVolumeStatus(volume, { phase: 'Failed', message });
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

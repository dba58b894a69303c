import {
  PersistentVolumeClaims,
  PersistentVolumes,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
} from '@tinkernetes/api';
import { Quantity } from '@tinkernetes/apimachinery';
import type { Client } from '@tinkernetes/client';
import { uidOf } from '../pods/pod-facts';
import { checkHostPath } from './check-host-path';
import type { CsiVolumes, Published } from './csi/csi-volumes';

/** Volumes that Pods have by way of claims. */
export class ClaimVolumes {
  /** Which volume a Pod's claim has: it stays the same for as long as the Pod is there. By `pod UID/claim`. */
  private readonly volumes = new Map<string, PersistentVolume>();

  constructor(private readonly deps: { client: Client; csi: CsiVolumes }) {}

  async mount(pod: Pod, claimName: string, readOnly: boolean): Promise<Published> {
    const key = `${uidOf(pod)}/${claimName}`;
    const known = this.volumes.get(key);
    if (known && !known.spec.csi) return onThisNode(known, readOnly);
    const claim = await this.boundClaim(pod.metadata.namespace ?? '', claimName);
    // It has grown at the controller, perhaps, and not here.
    const volume = known && !isGrowing(claim) ? known : await this.volumeOf(claim);
    const { hostPath, csi } = volume.spec;
    const mounted = csi
      ? await this.deps.csi.mountClaim(pod, { claim, volume, readOnly })
      : onThisNode(volume, readOnly);
    if (hostPath) await checkHostPath(hostPath.path, hostPath.type ?? 'DirectoryOrCreate');
    this.volumes.set(key, volume);
    return mounted;
  }

  forget(podUID: string): void {
    for (const key of [...this.volumes.keys()]) if (key.startsWith(`${podUID}/`)) this.volumes.delete(key);
  }

  private async boundClaim(namespace: string, name: string): Promise<PersistentVolumeClaim> {
    const claim = await this.deps.client.for(PersistentVolumeClaims).get(name, { namespace });
    if (!claim.spec.volumeName || claim.status?.phase !== 'Bound')
      throw new Error(`PVC ${namespace}/${name} is not bound`);
    return claim;
  }

  private volumeOf({ spec }: PersistentVolumeClaim): Promise<PersistentVolume> {
    return this.deps.client.for(PersistentVolumes).get(spec.volumeName ?? '');
  }
}

function onThisNode({ metadata, spec }: PersistentVolume, readOnly: boolean): Published {
  const path = spec.hostPath?.path ?? spec.local?.path;
  if (!path) throw new Error(`no volume plugin matched PersistentVolume "${metadata.name}"`);
  return spec.volumeMode === 'Block' ? { device: path, readOnly } : { path, readOnly };
}

function isGrowing({ spec, status }: PersistentVolumeClaim): boolean {
  const wanted = Quantity.tryParse(spec.resources?.requests?.['storage']);
  const has = Quantity.tryParse(status?.capacity?.['storage']);
  return wanted !== undefined && has !== undefined && wanted.compare(has) > 0;
}

import { PersistentVolumeClaims, type Pod, type StatefulSet } from '@tinkernetes/api';
import { ignoreNotFound, isAlreadyExists } from '@tinkernetes/apimachinery';
import type { ControllerContext } from '../../manager/context';
import { isLeaving, missingOwners } from './claim-retention';
import { memberClaims, ordinalOf, podName } from './identity';

/** The claims of a StatefulSet's members: made before their Pods, and owned as the retention policy calls for. */
export class MemberClaims {
  private readonly claims;

  constructor(private readonly context: ControllerContext) {
    this.claims = context.informers.for(PersistentVolumeClaims);
  }

  /** Where claims go with the Pod that was scaled away, the next of its name waits until they are gone. */
  checkFree(set: StatefulSet, ordinal: number): void {
    if (set.spec.persistentVolumeClaimRetentionPolicy?.whenScaled !== 'Delete') return;
    for (const { metadata } of memberClaims(set, ordinal)) {
      const claim = this.claims.lister.get(metadata.name, metadata.namespace);
      if (claim && isLeaving(claim, podName(set, ordinal)))
        throw new Error(`pvc ${metadata.name} goes with an earlier pod`);
    }
  }

  /** Those that are missing. */
  async create(set: StatefulSet, ordinal: number): Promise<void> {
    const { client, recorder } = this.context;
    const { namespace } = set.metadata;
    const ofPod = `Pod ${podName(set, ordinal)} in StatefulSet ${set.metadata.name}`;
    for (const claim of memberClaims(set, ordinal)) {
      const { name } = claim.metadata;
      const existing = this.claims.lister.get(name, namespace);
      if (existing?.metadata.deletionTimestamp) throw new Error(`pvc ${name} is being deleted`);
      if (existing) continue;
      try {
        await client.for(PersistentVolumeClaims).create(claim, { namespace, trace: client.traceOf(set) });
        recorder.event(set, 'Normal', 'SuccessfulCreate', `create Claim ${name} ${ofPod} success`);
      } catch (error) {
        if (isAlreadyExists(error)) continue;
        const message = `create Claim ${name} for ${ofPod} failed error: ${(error as Error).message}`;
        recorder.event(set, 'Warning', 'FailedCreate', message);
        throw error;
      }
    }
  }

  /** Claims get the owners that the retention policy calls for, before the Pod goes that one of them may go with. */
  async keepOwned(set: StatefulSet, pods: readonly Pod[]): Promise<void> {
    const { namespace } = set.metadata;
    const client = this.context.client.for(PersistentVolumeClaims);
    for (const pod of pods) {
      for (const { metadata } of memberClaims(set, ordinalOf(set, pod.metadata.name) ?? 0)) {
        const claim = this.claims.lister.get(metadata.name, namespace);
        const ownerReferences = claim && missingOwners(set, pod, claim);
        if (!claim || !ownerReferences) continue;
        await client
          .update({ ...claim, metadata: { ...claim.metadata, ownerReferences } }, { namespace })
          .catch(ignoreNotFound);
      }
    }
  }
}

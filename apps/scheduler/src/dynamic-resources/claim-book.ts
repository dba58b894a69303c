import {
  ResourceClaims,
  type AllocationResult,
  type Pod,
  type ResourceV1ResourceClaim as ResourceClaim,
} from '@tinkernetes/api';
import { isConflict, keyOf } from '@tinkernetes/apimachinery';
import type { Client } from '@tinkernetes/client';
import type { SharedInformer } from '@tinkernetes/informers';
import { keyOfDevice } from './devices';
import { isReservedFor } from './pod-resource-claims';

const finalizer = 'resource.kubernetes.io/delete-protection';
const maxTries = 5;

/** Claims as the API has them, and allocations that are decided but not seen there yet. */
export class ClaimBook {
  private readonly pending = new Map<string, AllocationResult>();

  constructor(
    private readonly claims: SharedInformer<ResourceClaim>,
    private readonly client: Client,
  ) {
    const seen = (claim: ResourceClaim) => {
      if (claim.status?.allocation) this.pending.delete(uidOf(claim));
    };
    claims.addEventHandler({
      added: seen,
      updated: (_, claim) => seen(claim),
      deleted: (claim) => this.pending.delete(uidOf(claim)),
    });
  }

  isPending(claim: ResourceClaim): boolean {
    return this.pending.has(uidOf(claim));
  }

  assume(claim: ResourceClaim, allocation: AllocationResult): void {
    this.pending.set(uidOf(claim), allocation);
  }

  /** Takes back `assume`; once the API has the allocation, it stays. */
  forget(claim: ResourceClaim): void {
    this.pending.delete(uidOf(claim));
  }

  devicesInUse(): Set<string> {
    const used = new Set<string>();
    const add = (allocation: AllocationResult | undefined) => {
      for (const result of allocation?.devices?.results ?? [])
        if (!result.adminAccess) used.add(keyOfDevice(result));
    };
    for (const { status } of this.claims.lister.list()) add(status?.allocation);
    for (const allocation of this.pending.values()) add(allocation);
    return used;
  }

  /** Writes the allocation, if there is one to write, and that the Pod uses the claim. Throws when somebody was faster. */
  async reserve(
    claim: ResourceClaim,
    pod: Pod,
    { allocation, signal }: { allocation: AllocationResult | undefined; signal: AbortSignal },
  ): Promise<void> {
    const { name, namespace } = claim.metadata;
    const api = this.client.for(ResourceClaims);
    let latest = claim;
    for (let attempt = 1; ; attempt++) {
      try {
        if (latest.metadata.deletionTimestamp)
          throw new Error(`claim ${keyOf(latest)} got deleted in the meantime`);
        if (allocation && latest.status?.allocation)
          throw new Error(`claim ${keyOf(latest)} got allocated elsewhere in the meantime`);
        if (allocation && !latest.metadata.finalizers?.includes(finalizer)) {
          const finalizers = [...(latest.metadata.finalizers ?? []), finalizer];
          latest = await api.update({ ...latest, metadata: { ...latest.metadata, finalizers } }, { signal });
        }
        await api.updateStatus(withConsumer(latest, pod, allocation), { signal });
        return;
      } catch (error) {
        if (!isConflict(error) || attempt === maxTries) throw error;
        latest = await api.get(name, { namespace, signal });
      }
    }
  }

  async unreserve(claim: ResourceClaim, pod: Pod): Promise<void> {
    const { name, namespace, uid } = claim.metadata;
    const status = { reservedFor: [{ $patch: 'delete', uid: pod.metadata.uid }] };
    await this.client
      .for(ResourceClaims)
      .patch(name, { metadata: { uid }, status }, { type: 'strategic', subresource: 'status', namespace });
  }

  async deallocate(claim: ResourceClaim): Promise<void> {
    await this.client.for(ResourceClaims).updateStatus({ ...claim, status: {} });
  }
}

const uidOf = ({ metadata }: ResourceClaim): string => metadata.uid ?? '';

function withConsumer(
  claim: ResourceClaim,
  pod: Pod,
  allocation: AllocationResult | undefined,
): ResourceClaim {
  const { name, uid = '' } = pod.metadata;
  const reservedFor = claim.status?.reservedFor ?? [];
  return {
    ...claim,
    status: {
      ...claim.status,
      allocation: allocation ?? claim.status?.allocation,
      reservedFor: isReservedFor(pod, claim)
        ? reservedFor
        : [...reservedFor, { resource: 'pods', name, uid }],
    },
  };
}

import {
  Pods,
  ResourceClaims,
  type Pod,
  type ResourceClaimConsumerReference,
  type ResourceV1ResourceClaim as ResourceClaim,
} from '@tinkernetes/api';
import { controllerOf, isNotFound } from '@tinkernetes/apimachinery';
import type { Client } from '@tinkernetes/client';
import type { Lister } from '@tinkernetes/informers';
import { isPodDone } from './pod-claims';

/** The scheduler's: it allocated the claim, and whoever takes the allocation away may remove it. */
export const finalizer = 'resource.kubernetes.io/delete-protection';

export interface ConsumerDeps {
  client: Client;
  pods: Lister<Pod>;
  signal: AbortSignal;
}

/** Keeps a claim's `reservedFor` true, and takes the allocation back when nobody uses it any more. */
export async function settleConsumers(claim: ResourceClaim, deps: ConsumerDeps): Promise<void> {
  const before = claim.status?.reservedFor ?? [];
  const kept = await Promise.all(before.map((reference) => stillUses(claim, reference, deps)));
  const remaining = before.filter((_, i) => kept[i]);
  const isOurs = claim.metadata.finalizers?.includes(finalizer) ?? false;
  if (remaining.length < before.length) await writeConsumers(claim, remaining, deps);
  else if (isOurs && claim.metadata.deletionTimestamp && remaining.length === 0) await letGo(claim, deps);
  if (remaining.length === 0) await deleteUnneeded(claim, deps);
}

async function stillUses(
  { metadata }: ResourceClaim,
  { apiGroup, resource, name, uid }: ResourceClaimConsumerReference,
  { client, pods, signal }: ConsumerDeps,
): Promise<boolean> {
  // Consumers of other kinds are not for us to judge.
  if (apiGroup || resource !== 'pods') return true;
  const { namespace } = metadata;
  const known = pods.get(name, namespace);
  if (known) return known.metadata.uid === uid && !isPodDone(known);
  // The cache may not have it yet, while the scheduler is placing it: only the API knows for certain.
  try {
    return (await client.for(Pods).get(name, { namespace, signal })).metadata.uid === uid;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

/** An update rather than a patch: it must fail if anything changed meanwhile. */
async function writeConsumers(
  claim: ResourceClaim,
  reservedFor: ResourceClaimConsumerReference[],
  { client, signal }: ConsumerDeps,
): Promise<void> {
  const isUnused = reservedFor.length === 0 && claim.metadata.finalizers?.includes(finalizer);
  const status = isUnused
    ? { ...claim.status, reservedFor, allocation: undefined }
    : { ...claim.status, reservedFor };
  const written = await client.for(ResourceClaims).updateStatus({ ...claim, status }, { signal });
  if (isUnused) await removeFinalizer(written, client, signal);
}

/** A claim that is being deleted and that nobody uses. */
async function letGo(claim: ResourceClaim, { client, signal }: ConsumerDeps): Promise<void> {
  const status = { ...claim.status, allocation: undefined };
  const current = claim.status?.allocation
    ? await client.for(ResourceClaims).updateStatus({ ...claim, status }, { signal })
    : claim;
  await removeFinalizer(current, client, signal);
}

async function removeFinalizer(claim: ResourceClaim, client: Client, signal: AbortSignal): Promise<void> {
  const finalizers = claim.metadata.finalizers?.filter((name) => name !== finalizer);
  await client
    .for(ResourceClaims)
    .update({ ...claim, metadata: { ...claim.metadata, finalizers } }, { signal });
}

/** A claim that was made for a Pod that is done; the garbage collector has those whose Pod is gone. */
async function deleteUnneeded(claim: ResourceClaim, { client, pods, signal }: ConsumerDeps): Promise<void> {
  const { name, namespace, uid, deletionTimestamp } = claim.metadata;
  const owner = controllerOf(claim);
  const pod = owner?.kind === 'Pod' ? pods.get(owner.name, namespace) : undefined;
  if (!pod || deletionTimestamp) return;
  if (pod.metadata.uid === owner?.uid && !isPodDone(pod)) return;
  try {
    await client.for(ResourceClaims).delete(name, { namespace, preconditions: { uid }, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

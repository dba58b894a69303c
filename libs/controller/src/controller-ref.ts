import {
  apiVersionOf,
  type KubeObject,
  type OwnerReference,
  type ResourceDescriptor,
} from '@tinkernetes/api';
import { controllerOf, ignoreNotFound, isInvalid, isNotFound } from '@tinkernetes/apimachinery';
import type { ResourceClient } from '@tinkernetes/client';

/** The reference that makes `owner` the managing controller of an object (metav1.NewControllerRef). */
export function controllerRefOf(owner: KubeObject, descriptor: ResourceDescriptor<unknown>): OwnerReference {
  return {
    apiVersion: apiVersionOf(descriptor),
    kind: descriptor.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  };
}

export interface ClaimOptions<C extends KubeObject, O extends KubeObject> {
  owner: O;
  ownerDescriptor: ResourceDescriptor<O>;
  /** Of the children. */
  client: ResourceClient<C>;
  candidates: readonly C[];
  matches(child: C): boolean;
  /**
   * The owner read from the server, not from the cache: adopting on behalf of an owner that is being deleted, or was
   * replaced by one of the same name, would leave orphans.
   */
  freshOwner(): Promise<O>;
  signal?: AbortSignal;
}

/**
 * The children that belong to `owner`: those it controls and its selector matches, plus orphans that match (adopted).
 * Children it controls that no longer match are released. Source: k8s.io/kubernetes/pkg/controller ControllerRefManager.
 */
export async function claimChildren<C extends KubeObject, O extends KubeObject>(
  options: ClaimOptions<C, O>,
): Promise<C[]> {
  const { owner, matches } = options;
  const isSettled = (child: C) => controllerOf(child)?.uid === owner.metadata.uid && matches(child);
  // Nearly always there is nothing to adopt or to release: no promise for each of hundreds of children then.
  if (options.candidates.every(isSettled)) return [...options.candidates];
  const claimed: C[] = [];
  const mayAdopt = onceAsync(() => assertMayAdopt(options));
  for (const child of options.candidates) {
    const kept = isSettled(child) ? child : await claim(child, options, mayAdopt);
    if (kept) claimed.push(kept);
  }
  return claimed;
}

async function claim<C extends KubeObject, O extends KubeObject>(
  child: C,
  options: ClaimOptions<C, O>,
  mayAdopt: () => Promise<void>,
): Promise<C | undefined> {
  const { owner, matches } = options;
  const controller = controllerOf(child);
  if (controller) {
    if (controller.uid !== owner.metadata.uid) return undefined;
    if (!owner.metadata.deletionTimestamp) await release(child, options);
    return undefined;
  }
  if (owner.metadata.deletionTimestamp || child.metadata.deletionTimestamp || !matches(child))
    return undefined;
  await mayAdopt();
  return adopt(child, options);
}

async function adopt<C extends KubeObject, O extends KubeObject>(
  child: C,
  { owner, ownerDescriptor, client, signal }: ClaimOptions<C, O>,
): Promise<C | undefined> {
  const { name, namespace, uid } = child.metadata;
  const patch = { metadata: { uid, ownerReferences: [controllerRefOf(owner, ownerDescriptor)] } };
  return client.patch(name, patch, { type: 'strategic', namespace, signal }).catch(ignoreNotFound);
}

async function release<C extends KubeObject, O extends KubeObject>(
  child: C,
  { owner, client, signal }: ClaimOptions<C, O>,
): Promise<void> {
  const { name, namespace, uid } = child.metadata;
  const patch = { metadata: { uid, ownerReferences: [{ $patch: 'delete', uid: owner.metadata.uid }] } };
  await client.patch(name, patch, { type: 'strategic', namespace, signal }).catch((error: unknown) => {
    // Gone, or replaced by another object of that name (the uid in the patch is refused): nothing to release.
    if (!isNotFound(error) && !isInvalid(error)) throw error;
  });
}

async function assertMayAdopt<C extends KubeObject, O extends KubeObject>({
  owner,
  freshOwner,
}: ClaimOptions<C, O>): Promise<void> {
  const fresh = await freshOwner();
  const { namespace, name, uid } = owner.metadata;
  if (fresh.metadata.uid !== uid) {
    throw new Error(`original ${namespace}/${name} is gone: got uid ${fresh.metadata.uid}, wanted ${uid}`);
  }
  if (fresh.metadata.deletionTimestamp) {
    throw new Error(`${namespace}/${name} has just been deleted at ${fresh.metadata.deletionTimestamp}`);
  }
}

function onceAsync<R>(work: () => Promise<R>): () => Promise<R> {
  let result: Promise<R> | undefined;
  return () => (result ??= work());
}

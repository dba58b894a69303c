import type { KubeObject } from '@tinkernetes/api';
import { conflict } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import { GuardFailedError } from '@tinkernetes/storage';
import type { CacheEntry } from '../../cacher/cache-entry';
import { withGeneration } from './object-meta';
import type { Written } from './store-options';
import type { StoredObjects } from './stored-objects';
import { writeVersion } from './update';
import type { WriteContext } from './write-context';

export interface DeleteRequest {
  gracePeriodSeconds?: number;
  orphanDependents?: boolean;
  propagationPolicy?: string;
  preconditions?: { uid?: string; resourceVersion?: string };
}

const orphan = 'orphan';
const foreground = 'foregroundDeletion';
const maxAttempts = 20;

/**
 * Deletes an object: at once, or by marking it where finalizers, dependents or a grace period hold it.
 * Source: k8s.io/apiserver/pkg/registry/rest.BeforeDelete and registry/generic/registry.Store.Delete.
 */
export async function deleteObject(
  store: StoredObjects,
  target: { name: string; namespace: string },
  request: DeleteRequest,
  context: WriteContext,
): Promise<Written> {
  for (let attempt = 1; ; attempt++) {
    const entry = await store.entry(target.name, target.namespace);
    try {
      return await deleteOnce(store, entry, request, context);
    } catch (error) {
      if (!(error instanceof GuardFailedError)) throw error;
      if (error.current) await store.runtime.feed.waitFor(error.current.modRevision);
      if (attempt === maxAttempts) throw conflict(store.descriptor, target.name);
    }
  }
}

async function deleteOnce(
  store: StoredObjects,
  entry: CacheEntry,
  request: DeleteRequest,
  context: WriteContext,
): Promise<Written> {
  const object = await store.objectOf(entry);
  checkPreconditions(store, object, request.preconditions);
  await context.admit?.(undefined, object);
  const marked = markDeleted(store, object, request);
  if (marked === object) return { entry, created: false };
  if (marked) return await writeVersion(store, entry, marked, context);
  const last = store.strategy.graceful ? withDeletion(store, object, [], 0) : undefined;
  if (context.dryRun) return { entry, created: false, deleted: true };
  const revision = await store.remove(entry);
  const shown = last ? store.unstored(last, revision) : entry.deletedAt(revision);
  return { entry: shown, created: false, deleted: true };
}

/** Throws where the object is not the one, or not the version, that is to be deleted. */
export function checkPreconditions(
  { descriptor }: Pick<StoredObjects, 'descriptor'>,
  { metadata }: KubeObject,
  preconditions: DeleteRequest['preconditions'],
): void {
  const { uid, resourceVersion } = preconditions ?? {};
  const refuse = (reason: string) =>
    conflict({ group: descriptor.group, resource: descriptor.kind }, metadata.name, reason);
  if (uid !== undefined && uid !== metadata.uid) {
    throw refuse(
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid ?? ''}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw refuse(
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion ?? ''}). The object might have been modified`,
    );
  }
}

/** The object marked as being deleted; undefined when nothing holds it and it can go at once. */
function markDeleted(
  store: StoredObjects,
  object: KubeObject,
  request: DeleteRequest,
): KubeObject | undefined {
  const { strategy } = store;
  const { metadata } = object;
  const finalizers = finalizersAfter(store, object, request);
  const wantedGrace = strategy.graceful?.(object, request.gracePeriodSeconds) ?? 0;
  const held = finalizers.length > 0 || (strategy.extraFinalizers?.(object) ?? []).length > 0;
  if (!held && wantedGrace === 0) return undefined;
  const sameFinalizers = finalizers.join() === (metadata.finalizers ?? []).join();
  if (metadata.deletionTimestamp !== undefined) {
    const grace = metadata.deletionGracePeriodSeconds ?? 0;
    // A deletion in progress can be made shorter, never longer.
    if (wantedGrace >= grace && sameFinalizers) return object;
    return withDeletion(store, object, finalizers, Math.min(wantedGrace, grace));
  }
  return withDeletion(store, object, finalizers, wantedGrace);
}

function withDeletion(
  store: StoredObjects,
  object: KubeObject,
  finalizers: readonly string[],
  graceSeconds: number,
): KubeObject {
  const { finalizers: _, ...metadata } = object.metadata;
  const first = metadata.deletionTimestamp === undefined;
  const now = store.runtime.clock.now();
  const start = first
    ? now
    : Date.parse(metadata.deletionTimestamp ?? '') - (metadata.deletionGracePeriodSeconds ?? 0) * 1000;
  const marked: KubeObject = {
    ...object,
    metadata: {
      ...metadata,
      deletionTimestamp: formatTime(start + graceSeconds * 1000),
      deletionGracePeriodSeconds: graceSeconds,
      ...(finalizers.length ? { finalizers: [...finalizers] } : undefined),
    },
  };
  const { markTerminating } = store.strategy;
  if (markTerminating) {
    // Kinds whose end is a process of their own record neither grace nor another generation.
    const { deletionGracePeriodSeconds: _g, ...rest } = marked.metadata;
    return markTerminating({ ...marked, metadata: rest });
  }
  const generation = metadata.generation ?? 0;
  return first && generation > 0 ? withGeneration(marked, generation + 1) : marked;
}

/** Finalizers that stand for what should happen to dependents. */
function finalizersAfter(store: StoredObjects, object: KubeObject, request: DeleteRequest): string[] {
  const given = object.metadata.finalizers ?? [];
  const policy = policyOf(store, request, given);
  const others = given.filter((f) => f !== orphan && f !== foreground);
  if (policy === 'Orphan') return [...others, orphan];
  if (policy === 'Foreground') return [...others, foreground];
  return others;
}

function policyOf(store: StoredObjects, request: DeleteRequest, finalizers: readonly string[]): string {
  if (request.orphanDependents !== undefined) return request.orphanDependents ? 'Orphan' : 'Background';
  if (request.propagationPolicy) return request.propagationPolicy;
  if (finalizers.includes(orphan)) return 'Orphan';
  if (finalizers.includes(foreground)) return 'Foreground';
  return store.strategy.defaultOrphanDependents ? 'Orphan' : 'Background';
}

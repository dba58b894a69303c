import { groupOf, type KubeObject } from '@tinkernetes/api';
import { conflict, notFound, validateObjectMetaUpdate } from '@tinkernetes/apimachinery';
import { GuardFailedError } from '@tinkernetes/storage';
import type { CacheEntry } from '../../cacher/cache-entry';
import { createObject } from './creation';
import { metadataForUpdate } from './object-meta';
import type { Written } from './store-options';
import type { StoredObjects } from './stored-objects';
import { checkVersions, prepared, rulesOf, type UpdateKind } from './update-rules';
import type { WriteContext } from './write-context';
import {
  canonical,
  check,
  mutated,
  strategyContext,
  tracked,
  warn,
  withDefaults,
  withUniqueOwners,
} from './write-steps';

/** How an update comes to its new object. */
export interface UpdateRequest {
  name: string;
  namespace: string;
  /** The wanted object, from the current one; may be called again after a conflict. */
  change(current: KubeObject): KubeObject | Promise<KubeObject>;
  /** For PUT on kinds that may be created so. */
  create?(): KubeObject;
  /** Creates it whatever the kind's strategy says (apply). */
  createIfMissing?: boolean;
  /** The object came as a whole (PUT): another uid means another object. */
  replaces?: boolean;
  /** Throws Conflict instead of trying again when somebody else wrote in between. */
  failOnConflict?: boolean;
}

const maxAttempts = 20;

/**
 * Updates an object by its rules, again when somebody else wrote in between. `raw` is for the server's own changes: no
 * strategy but defaults. Source: k8s.io/apiserver/pkg/registry/rest.BeforeUpdate and
 * registry/generic/registry.Store.Update.
 */
export async function updateObject(
  store: StoredObjects,
  request: UpdateRequest,
  context: WriteContext,
  kind: UpdateKind | 'raw' = 'main',
): Promise<Written> {
  const { feed } = store.runtime;
  for (let attempt = 1; ; attempt++) {
    await feed.waitUntilFresh();
    const current = store.cache.get(request.name, request.namespace);
    if (!current) {
      if (!request.create || !(request.createIfMissing || store.strategy.allowCreateOnUpdate)) {
        throw notFound(resourceOf(store, context), request.name);
      }
      return await createObject(store, request.create(), context);
    }
    try {
      return await updateOnce(store, current, { request, kind }, context);
    } catch (error) {
      if (!(error instanceof GuardFailedError)) throw error;
      if (error.current) await feed.waitFor(error.current.modRevision);
      if (request.failOnConflict || attempt >= maxAttempts) throw conflict(store.descriptor, request.name);
    }
  }
}

/** The resource as the request's group has it: Events are in two. */
const resourceOf = ({ descriptor }: StoredObjects, { apiVersion }: WriteContext) => ({
  group: groupOf(apiVersion),
  resource: descriptor.resource,
});

async function updateOnce(
  store: StoredObjects,
  current: CacheEntry,
  { request, kind }: { request: UpdateRequest; kind: UpdateKind | 'raw' },
  context: WriteContext,
): Promise<Written> {
  const old = await store.objectOf(current);
  const wanted = await request.change(old);
  if (wanted === old) return { entry: current, created: false };
  if (kind === 'raw')
    return await writeVersion(
      store,
      current,
      canonical(store, tracked(store, old, wanted, context)),
      context,
    );
  checkVersions(store, wanted, old, { kind, replaces: request.replaces ?? false });
  const { hooks } = store.options;
  const about = strategyContext(store, context);
  let object: KubeObject = { ...wanted, metadata: metadataForUpdate(wanted.metadata, old.metadata) };
  object = withUniqueOwners(object, context);
  object = tracked(store, old, withDefaults(store, object), context);
  object = await mutated(store, object, old, context);
  object = prepared(store, { object, old }, kind, about);
  const begun = kind === 'main' ? await hooks.begin?.(object, old, { dryRun: context.dryRun }) : undefined;
  try {
    if (begun) object = begun.object;
    const errors = rulesOf(store, kind)?.(object, old, about);
    // Upstream checks metadata here and in the strategy, and reports both.
    check(store, object, [...validateObjectMetaUpdate(object.metadata, old.metadata), ...(errors ?? [])]);
    // What there is to be said of the object was said when it was written.
    if (kind === 'main') warn(store, object, old, context);
    await context.admit?.(object, old);
    if (context.dryRun) begun?.release();
    return await writeVersion(store, current, canonical(store, object), context);
  } catch (error) {
    begun?.release();
    throw error;
  }
}

/** Writes the new version, or removes the object when this update took its last finalizer away. */
export async function writeVersion(
  store: StoredObjects,
  current: CacheEntry,
  object: KubeObject,
  context: WriteContext,
): Promise<Written> {
  if (isFinished(store, object)) {
    if (!context.dryRun) await store.remove(current);
    return { entry: store.unstored(object, current.revision), created: false, deleted: true };
  }
  if (context.dryRun) return { entry: store.unstored(object, current.revision), created: false };
  return { entry: await store.replace(current, object, context), created: false };
}

/** Marked as deleted, and nothing holds it any more. */
function isFinished({ strategy }: StoredObjects, object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata;
  return (
    deletionTimestamp !== undefined &&
    (deletionGracePeriodSeconds ?? 0) === 0 &&
    (finalizers ?? []).length === 0 &&
    (strategy.extraFinalizers?.(object) ?? []).length === 0
  );
}

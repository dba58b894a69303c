import type { KubeObject } from '@tinkernetes/api';
import { alreadyExists, generateNameConflict, StatusError } from '@tinkernetes/apimachinery';
import { GuardFailedError } from '@tinkernetes/storage';
import type { ObjectCodec } from '../../codec/object-codec';
import { metadataForCreate, withGeneration } from './object-meta';
import type { Written } from './store-options';
import type { StoredObjects } from './stored-objects';
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

const maxNameAttempts = 8;

/**
 * Creates an object; one with a `generateName` gets another name when its name is taken. Source:
 * k8s.io/apiserver/pkg/registry/rest.BeforeCreate and registry/generic/registry.Store.Create.
 */
export async function createObject(
  store: StoredObjects,
  given: KubeObject,
  context: WriteContext,
): Promise<Written> {
  const { random, clock } = store.runtime;
  for (let attempt = 1; ; attempt++) {
    const { namespace } = context;
    const metadata = metadataForCreate(given.metadata, { namespace, random, now: clock.now() });
    const object = { ...given, metadata };
    try {
      return await createOnce(store, object, context);
    } catch (error) {
      if (!(error instanceof GuardFailedError)) throw error;
      const { name, generateName } = given.metadata;
      if (!generateName) throw exists(store, object);
      if (name || attempt === maxNameAttempts)
        throw generateNameConflict(store.descriptor, object.metadata.name);
    }
  }
}

/** Says so where what is in the way is being deleted. */
function exists({ cache, descriptor }: StoredObjects, object: KubeObject): StatusError {
  const { name, namespace } = object.metadata;
  const error = alreadyExists(descriptor, name);
  if (!cache.get(name, namespace)?.object.metadata.deletionTimestamp) return error;
  return new StatusError('AlreadyExists', `object is being deleted: ${error.message}`, {
    details: error.details,
  });
}

async function createOnce(store: StoredObjects, given: KubeObject, context: WriteContext): Promise<Written> {
  const { strategy, hooks, hasStatus, codec, versions } = store.options;
  let object = withUniqueOwners(given, context);
  object = tracked(store, undefined, withDefaults(store, object), context);
  object = await mutated(store, object, undefined, context);
  const about = strategyContext(store, context);
  if (hasStatus && !strategy.keepsStatusOnCreate) object = withoutStatus(object, codec);
  object = strategy.prepareForCreate?.(object, about) ?? object;
  if (strategy.hasGeneration ?? hasStatus) object = withGeneration(object, 1);
  const begun = await hooks.begin?.(object, undefined, { dryRun: context.dryRun });
  try {
    if (begun) object = begun.object;
    check(store, object, strategy.validate?.(object, about) ?? []);
    warn(store, object, undefined, context);
    await context.admit?.(object, undefined);
    object = canonical(store, object);
    if (context.dryRun) {
      begun?.release();
      return await dryRun(store, object, context);
    }
    object = (await versions?.toStored(object)) ?? object;
    return { entry: await store.insert(object, context), created: true };
  } catch (error) {
    begun?.release();
    throw error;
  }
}

async function dryRun(store: StoredObjects, object: KubeObject, context: WriteContext): Promise<Written> {
  const key = store.keyOf(object.metadata.name, context.namespace);
  const { item } = await store.runtime.storage.get(key);
  if (item) throw new GuardFailedError(key, item);
  return { entry: store.unstored(object, 0), created: true };
}

function withoutStatus(object: KubeObject, codec: ObjectCodec): KubeObject {
  const { status: _, ...rest } = object as KubeObject & { status?: unknown };
  if (!codec.schemaName) return rest;
  const { status } = codec.decode({}).object as { status?: unknown };
  return { ...rest, status } as KubeObject;
}

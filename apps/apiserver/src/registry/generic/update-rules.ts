import type { KubeObject, ObjectMeta } from '@tinkernetes/api';
import { compact, conflict, invalid, invalidError, StatusError } from '@tinkernetes/apimachinery';
import { uint64Problem } from '../../codec/go-integers';
import type { Strategy, StrategyContext, SubresourceRules } from '../../contracts';
import { specChanged, withGeneration } from './object-meta';
import type { StoredObjects } from './stored-objects';

/** Whose rules an update follows: the object's own, its status's, or those of another subresource. */
export type UpdateKind = 'main' | 'status' | SubresourceRules;

export interface Change {
  readonly object: KubeObject;
  readonly old: KubeObject;
}

/** Throws where the client has seen another version, or another object of the same name. */
export function checkVersions(
  store: StoredObjects,
  wanted: KubeObject,
  old: KubeObject,
  { kind, replaces }: { kind: UpdateKind; replaces: boolean },
): void {
  const { resourceVersion, uid } = wanted.metadata;
  const problem = resourceVersion && uint64Problem(resourceVersion);
  if (problem) {
    throw new StatusError(
      'Unknown',
      `strconv.ParseUint: parsing ${JSON.stringify(resourceVersion)}: ${problem}`,
    );
  }
  if (resourceVersion && resourceVersion !== '0') {
    if (resourceVersion !== old.metadata.resourceVersion) throw conflict(store.descriptor, old.metadata.name);
  } else if (typeof kind === 'string' && store.options.strategy.allowUnconditionalUpdate === false) {
    const { group, resource } = store.descriptor;
    throw invalidError({ group, kind: resource }, wanted.metadata.name, [
      invalid('metadata.resourceVersion', 0, 'must be specified for an update'),
    ]);
  }
  if (uid && uid !== old.metadata.uid && replaces) throw uidConflict(store, old, uid);
}

function uidConflict(store: StoredObjects, old: KubeObject, uid: string): StatusError {
  const { name, namespace = '', resourceVersion = '' } = old.metadata;
  return conflict(
    store.descriptor,
    name,
    `StorageError: invalid object, Code: 4, Key: ${store.keyOf(name, namespace)}, ResourceVersion: ${resourceVersion}, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid ?? ''}`,
  );
}

/** With what this kind of update may not change taken from the old object. */
export function prepared(
  store: StoredObjects,
  change: Change,
  kind: UpdateKind,
  context: StrategyContext,
): KubeObject {
  if (kind === 'main') return preparedMain(store, change, context);
  if (kind === 'status') return preparedStatus(store, change, context);
  const { object, old } = change;
  return counted(store, { object: kind.prepareForUpdate(object, old, context), old });
}

export function rulesOf({ strategy }: StoredObjects, kind: UpdateKind): Strategy['validateUpdate'] {
  if (kind === 'main') return strategy.validateUpdate;
  return kind === 'status' ? strategy.validateStatusUpdate : kind.validateUpdate;
}

function preparedMain(store: StoredObjects, { object, old }: Change, context: StrategyContext): KubeObject {
  const { strategy, hasStatus } = store.options;
  const given = hasStatus ? withStatusOf(object, old) : object;
  const next = strategy.prepareForUpdate?.(given, old, context) ?? given;
  return counted(store, { object: next, old }, strategy.changesGeneration?.(given, old));
}

/** With the generation counted up where the spec has changed. */
function counted(
  { strategy, options }: StoredObjects,
  { object, old }: Change,
  hasChanged = specChanged(object, old, options.codec.schemaName === undefined),
): KubeObject {
  if (!(strategy.hasGeneration ?? options.hasStatus)) return object;
  const generation = old.metadata.generation ?? 0;
  return withGeneration(object, hasChanged ? generation + 1 : generation);
}

/** Source: apimachinery metav1.ResetObjectMetaForStatus, which only some kinds use. */
function statusMetadata(given: ObjectMeta, old: ObjectMeta, kept: Strategy['keptByStatus']): ObjectMeta {
  if (kept === 'labels') return compact({ ...given, labels: old.labels });
  return kept === 'all' ? compact({ ...old, managedFields: given.managedFields }) : given;
}

function preparedStatus(
  { strategy }: StoredObjects,
  { object, old }: Change,
  context: StrategyContext,
): KubeObject {
  const { status } = object as { status?: unknown };
  const { status: _, ...kept } = old as KubeObject & { status?: unknown };
  const next = {
    ...kept,
    metadata: statusMetadata(object.metadata, old.metadata, strategy.keptByStatus),
    ...(status === undefined ? undefined : { status }),
  } as KubeObject;
  return strategy.prepareForStatusUpdate?.(next, old, context) ?? next;
}

function withStatusOf(object: KubeObject, old: KubeObject): KubeObject {
  const { status: _, ...rest } = object as KubeObject & { status?: unknown };
  const { status } = old as { status?: unknown };
  return status === undefined ? rest : ({ ...rest, status } as KubeObject);
}

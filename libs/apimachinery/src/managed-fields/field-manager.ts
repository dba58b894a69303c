import type { KubeObject, ManagedFieldsEntry, SchemaFacts } from '@tinkernetes/api';
import { deepEqual, isObject } from '../deep';
import { resolveSchema } from '../schema-lookup';
import { badRequest } from '../status-builders';
import { StatusError } from '../status-error';
import { compare } from './compare';
import type { Comparison } from './compare';
import { conflictError } from './conflicts';
import type { Conflict } from './conflicts';
import { FieldSet } from './field-set';
import { capUpdaters, decodeManagers, encodeManagers, identityOf, withoutEmpty } from './managers';
import type { Manager, Managers } from './managers';
import type { Configuration } from './configuration';
import { withLastApplied, withoutClientSideApply } from './last-applied';
import { merge, removeItems } from './merge';
import { toFieldSet } from './to-field-set';
import type { Typed } from './typing';
import { isTypable, typeErrors } from './validate-typed';

/** Metadata that nobody owns. */
const unowned = FieldSet.ofNames([
  ['apiVersion'],
  ['kind'],
  ['metadata'],
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => ['metadata', name]),
]);

/** Who writes, what and how. */
export interface FieldManagement {
  readonly schemas: SchemaFacts;
  /** Full name of the kind's schema; undefined where there is none (every field is then known). */
  readonly schemaName: string | undefined;
  readonly manager: string;
  /** The version that the request is in. */
  readonly apiVersion: string;
  /** `status`, `scale` …; '' for the object itself. */
  readonly subresource: string;
  /** How an update is written down; left out: as Update. */
  readonly operation?: 'Apply' | 'Update';
  /** RFC 3339. */
  readonly now: string;
  /** Whether the kind has that version, too; left out where that is not known. */
  readonly isVersion?: (apiVersion: string) => boolean;
  /** What conflicts say that updates were made in: the version of the subresource's own kind. */
  readonly shownVersion?: string;
  /** Paths that this endpoint leaves as they are (`['status']` for the object itself, `['spec']` for its status). */
  readonly ignored: ReadonlyArray<readonly string[]>;
}

const typeOf = ({ schemas, schemaName }: Pick<FieldManagement, 'schemas' | 'schemaName'>): Typed => ({
  schema: schemaName === undefined ? undefined : resolveSchema(schemas[schemaName], schemas),
  schemas,
});

const withoutManagedFields = (object: KubeObject): KubeObject => {
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return { ...object, metadata };
};

function withManagers(object: KubeObject, managers: Managers): KubeObject {
  const managedFields = encodeManagers(managers);
  const bare = withoutManagedFields(object);
  return managedFields ? { ...bare, metadata: { ...bare.metadata, managedFields } } : bare;
}

/** Nobody is to own anything any more: there is a list, and nothing in it. */
const isReset = (entries: readonly ManagedFieldsEntry[] | undefined): boolean =>
  entries?.every((entry) => Object.keys(entry).length === 0) ?? false;

/** The managers that count: those that the write brings, else the live ones. Other times alone are no change. */
function managersOf(next: KubeObject, live: KubeObject): Managers {
  const brought = decodeManagers(next.metadata.managedFields);
  const isBrought = brought !== undefined && brought.size > 0;
  // Most writes bring what they have read: only one of both has to be decoded.
  if (isBrought && haveSameTimes(next.metadata.managedFields, live.metadata.managedFields)) return brought;
  const known: Managers = decodeManagers(live.metadata.managedFields) ?? new Map();
  if (!isBrought) return known;
  const isOnlyRetimed = areRetimed(brought, known) && deepEqual(withoutTrail(live), withoutTrail(next));
  return isOnlyRetimed ? known : brought;
}

/** Who owns fields of a version that the kind doesn't have (any more) owns nothing. */
const inKnownVersions = (managers: Managers, { apiVersion, isVersion }: FieldManagement): Managers =>
  isVersion && [...managers.values()].some((manager) => manager.apiVersion !== apiVersion)
    ? new Map([...managers].filter(([, manager]) => isVersion(manager.apiVersion)))
    : managers;

function withoutTrail(object: KubeObject): KubeObject {
  const { managedFields: _managedFields, resourceVersion: _resourceVersion, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Whether the same managers are there, in the same order, since the same times. */
const haveSameTimes = (
  entries: readonly ManagedFieldsEntry[] = [],
  others: readonly ManagedFieldsEntry[] = [],
): boolean =>
  entries.length === others.length &&
  entries.every(({ manager, operation, subresource, time }, i) => {
    const other = others[i];
    return (
      manager === other?.manager &&
      operation === other?.operation &&
      subresource === other?.subresource &&
      time === other?.time
    );
  });

/** Whether the same managers have the same fields, since other times. */
const areRetimed = (brought: Managers, known: Managers): boolean =>
  brought.size === known.size &&
  [...brought].some(([identity, { time }]) => time !== known.get(identity)?.time) &&
  [...brought].every(([identity, { fields }]) => known.get(identity)?.fields.equals(fields));

/** Callers have a handful of lists, which never change. */
const ignoredSets = new WeakMap<FieldManagement['ignored'], FieldSet>();

function ignoredSet({ ignored }: FieldManagement): FieldSet {
  let set = ignoredSets.get(ignored);
  if (!set) ignoredSets.set(ignored, (set = FieldSet.ofNames(ignored)));
  return set;
}

function exclude(comparison: Comparison, ignored: FieldSet): Comparison {
  return {
    added: comparison.added.recursiveDifference(ignored),
    modified: comparison.modified.recursiveDifference(ignored),
    removed: comparison.removed.recursiveDifference(ignored),
  };
}

/** Takes changed fields from other managers; returns what was taken from whom, and all that was set. */
function takeFromOthers(
  managers: Managers,
  own: string | undefined,
  comparison: Comparison,
): { managers: Managers; conflicts: Conflict[]; changed: FieldSet } {
  const changed = comparison.modified.union(comparison.added);
  const conflicts: Conflict[] = [];
  const left = new Map<string, Manager>();
  for (const [identity, manager] of managers) {
    if (identity === own) {
      left.set(identity, manager);
      continue;
    }
    const taken = manager.fields.intersection(changed);
    if (!taken.isEmpty) conflicts.push({ manager, fields: taken });
    left.set(identity, {
      ...manager,
      fields: manager.fields.difference(taken).difference(comparison.removed),
    });
  }
  return { managers: left, conflicts, changed };
}

/**
 * The new object with its managedFields after a create, update or patch (not apply). `live` is the object before, or
 * for a create the empty object of the kind. Objects that nobody tracked until now are left untracked.
 * Source: https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
 */
export function trackUpdate(
  live: KubeObject,
  next: KubeObject,
  options: FieldManagement & { isCreate: boolean },
): KubeObject {
  if (!options.isCreate && isReset(next.metadata.managedFields)) return withoutManagedFields(next);
  const managers = options.isCreate
    ? new Map<string, Manager>()
    : inKnownVersions(managersOf(next, live), options);
  if (managers.size === 0 && !options.isCreate) return withoutManagedFields(next);
  const type = typeOf(options);
  const [before, after] = [withoutManagedFields(live), withoutManagedFields(next)];
  // Ownership that can't be told is given up.
  if (!isTypable(after, type) || !isTypable(before, type, after)) return after;
  const comparison = exclude(compare(before, after, type), ignoredSet(options));
  const { managers: others, changed } = takeFromOthers(managers, undefined, comparison);
  const fields = ownedOf(changed.difference(unowned), after, { ...options, type });
  const result = new Map(others);
  if (!fields.isEmpty) {
    const { manager, apiVersion, subresource, now, operation = 'Update' } = options;
    const time = timeOf(subresource, now);
    const entry: Manager = { manager, operation, apiVersion, subresource, ...time, fields };
    const last = others.get(identityOf(entry));
    result.set(identityOf(entry), last ? { ...entry, fields: last.fields.union(fields) } : entry);
  }
  return withManagers(next, capUpdaters(withoutEmpty(result)));
}

/** What the writer comes to own of what it has changed. */
function ownedOf(
  changed: FieldSet,
  after: KubeObject,
  { operation, subresource, type }: Pick<FieldManagement, 'operation' | 'subresource'> & { type: Typed },
): FieldSet {
  // Who applies owns what is in lists and maps, not these themselves.
  if (operation === 'Apply') return changed.intersection(toFieldSet(after, type));
  // A Scale leaves out zero, and what it doesn't have nobody owns.
  if (subresource === 'scale') return changed.intersection(toFieldSet(withoutZeros(after), type));
  return changed;
}

function withoutZeros(value: unknown): unknown {
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== 0);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutZeros(member)]));
}

/** On an untracked object the first apply meets the fields of `before-first-apply`, who has set all that is there. */
function claimForPast(live: KubeObject, options: ApplyOptions): Managers {
  const past = { ...options, manager: 'before-first-apply', subresource: '', isCreate: true };
  const claimed = trackUpdate(options.empty, withoutManagedFields(live), past);
  return decodeManagers(claimed.metadata.managedFields) ?? new Map();
}

export interface ApplyOptions extends FieldManagement {
  /** The kind without anything set. */
  readonly empty: KubeObject;
  readonly isCreate: boolean;
  readonly force: boolean;
}

/**
 * Server-side apply: the live object with the configuration laid over it, without what the manager applied before and
 * nobody owns any more. Throws StatusError: 400/500 for configurations that cannot be applied, 409 for conflicts.
 */
export function applyConfiguration(
  live: KubeObject,
  config: Configuration,
  options: ApplyOptions,
): KubeObject {
  if (config.metadata?.managedFields !== undefined) throw badRequest('metadata.managedFields must be nil');
  const type = typeOf(options);
  checkConfiguration(config, options);
  const tracked = decodeManagers(live.metadata.managedFields) ?? new Map<string, Manager>();
  const isUntracked = tracked.size === 0 && !options.isCreate;
  const managers: Managers = isUntracked ? claimForPast(live, options) : tracked;
  const current = withoutManagedFields(live);
  const ignored = ignoredSet(options);
  const { manager, apiVersion, subresource, now } = options;
  const entry: Manager = {
    manager,
    operation: 'Apply',
    apiVersion,
    subresource,
    fields: toFieldSet(config, type).recursiveDifference(ignored).difference(unowned),
  };
  const own = identityOf(entry);
  const last = managers.get(own);
  const withOwn = new Map(managers).set(own, { ...entry, ...(last?.time ? { time: last.time } : {}) });
  const wanted = toFieldSet(config, type);
  const merged = prune(merge(current, config, type), last?.fields, { managers: withOwn, wanted, type });
  const comparison = exclude(compare(current, merged, type), ignored);
  const { managers: after, conflicts } = takeFromOthers(withOwn, own, comparison);
  const refused = options.force ? [] : withoutClientSideApply(conflicts, { live, options, type });
  if (refused.length > 0) throw conflictError(refused, options.shownVersion);
  const isChanged = !deepEqual(current, merged);
  const result = new Map(after);
  const kept = result.get(own);
  if (kept && isChanged) result.set(own, { ...kept, ...timeOf(subresource, now) });
  const applied =
    manager === 'kubectl' ? withLastApplied(merged as KubeObject, config) : (merged as KubeObject);
  return withManagers(applied, withoutEmpty(result));
}

/** What comes in through the scale subresource carries no time upstream. */
const timeOf = (subresource: string, now: string): { time?: string } =>
  subresource === 'scale' ? {} : { time: now };

/** Throws what keeps a configuration from being applied to anything of its kind. */
export function checkConfiguration(
  config: Configuration,
  options: Pick<FieldManagement, 'schemas' | 'schemaName' | 'apiVersion'>,
): void {
  const { apiVersion } = options;
  const errors = typeErrors(config, typeOf(options)).sort();
  if (errors.length === 0) return;
  const slash = apiVersion.indexOf('/');
  const groupVersion = slash < 0 ? `/${apiVersion}` : apiVersion;
  const { namespace, name } = (config.metadata ?? {}) as { namespace?: unknown; name?: unknown };
  const [shownNamespace, shownName] = [namespace, name].map((given) =>
    typeof given === 'string' ? given : '',
  );
  const text = errors.length === 1 ? errors[0] : `errors:\n${errors.map((error) => `  ${error}`).join('\n')}`;
  throw new StatusError(
    'Unknown',
    `failed to create typed patch object (${shownNamespace}/${shownName}; ${groupVersion}, Kind=${config.kind ?? ''}): ${text}`,
  );
}

/** Without what was applied last time and is owned by nobody now. */
function prune(
  merged: unknown,
  last: FieldSet | undefined,
  { managers, wanted, type }: { managers: Managers; wanted: FieldSet; type: Typed },
): unknown {
  if (!last || last.isEmpty) return merged;
  // What the configuration has counts even where nobody can own it, so that metadata is never all gone.
  const owned = [...managers.values()].reduce((set, manager) => set.union(manager.fields), wanted);
  return removeItems(merged, last.withNamedParents().difference(owned.withNamedParents()), type);
}

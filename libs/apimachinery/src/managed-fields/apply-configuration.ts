import type { KubeObject } from '@tinkernetes/api';
import { deepEqual } from '../deep';
import { badRequest } from '../status-builders';
import { StatusError } from '../status-error';
import { compare } from './compare';
import { conflictError } from './conflicts';
import type { FieldSet } from './field-set';
import { decodeManagers, identityOf, withoutEmpty } from './managers';
import type { Manager, Managers } from './managers';
import type { Configuration } from './configuration';
import { withLastApplied, withoutClientSideApply } from './last-applied';
import { merge, removeItems } from './merge';
import { toFieldSet } from './to-field-set';
import type { Typed } from './typing';
import { typeErrors } from './validate-typed';
import {
  exclude,
  ignoredSet,
  takeFromOthers,
  timeOf,
  typeOf,
  unowned,
  withManagers,
  withoutManagedFields,
  type FieldManagement,
} from './field-management';
import { trackUpdate } from './track-update';

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

import type { KubeObject, ManagedFieldsEntry } from '@tinkernetes/api';
import { deepEqual, isObject } from '../deep';
import { compare } from './compare';
import type { FieldSet } from './field-set';
import { capUpdaters, decodeManagers, identityOf, withoutEmpty } from './managers';
import type { Manager, Managers } from './managers';
import { toFieldSet } from './to-field-set';
import type { Typed } from './typing';
import { isTypable } from './validate-typed';
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

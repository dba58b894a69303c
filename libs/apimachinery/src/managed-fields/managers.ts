import type { ManagedFieldsEntry } from '@tinkernetes/api';
import { FieldSet } from './field-set';

/** Who owns fields, how, and since when. Source: apimachinery/pkg/util/managedfields. */
export interface Manager {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time?: string;
  readonly fields: FieldSet;
}
/** By identity. */
export type Managers = ReadonlyMap<string, Manager>;

/** What tells managers apart; the version counts for updates only. */
export const identityOf = ({
  manager,
  operation,
  apiVersion,
  subresource,
}: Omit<Manager, 'fields' | 'time'>): string =>
  JSON.stringify([operation, manager, operation === 'Apply' ? '' : apiVersion, subresource]);

/** The entries decoded; undefined when one of them is not right, in which case upstream keeps the live ones. */
export function decodeManagers(entries: readonly ManagedFieldsEntry[] | undefined): Managers | undefined {
  const managers = new Map<string, Manager>();
  for (const { manager = '', operation, apiVersion = '', subresource = '', time, ...rest } of entries ?? []) {
    const fields = rest.fieldsType === 'FieldsV1' ? FieldSet.fromJson(rest.fieldsV1) : undefined;
    if ((operation !== 'Apply' && operation !== 'Update') || apiVersion === '' || !fields) return undefined;
    const decoded: Manager = {
      manager,
      operation,
      apiVersion,
      subresource,
      ...(time ? { time } : {}),
      fields,
    };
    managers.set(identityOf(decoded), decoded);
  }
  return managers;
}

/** Sorted by operation, time, manager, version, subresource, as upstream writes them. */
export function encodeManagers(managers: Managers): ManagedFieldsEntry[] | undefined {
  const sorted = [...managers.values()].sort(
    (a, b) =>
      order(a.operation, b.operation) ||
      order(a.time ?? '', b.time ?? '') ||
      order(a.manager, b.manager) ||
      order(a.apiVersion, b.apiVersion) ||
      order(a.subresource, b.subresource),
  );
  if (sorted.length === 0) return undefined;
  return sorted.map(({ manager, operation, apiVersion, subresource, time, fields }) => ({
    ...(manager ? { manager } : {}),
    operation,
    apiVersion,
    ...(time ? { time } : {}),
    fieldsType: 'FieldsV1',
    fieldsV1: fields.toJson(),
    ...(subresource ? { subresource } : {}),
  }));
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const maxUpdaters = 10;

/** The oldest updaters become one, so that the list does not grow for ever. Source: capManagersManager. */
export function capUpdaters(managers: Managers): Managers {
  if (managers.size <= maxUpdaters) return managers;
  const updaters = [...managers.entries()]
    .filter(([, manager]) => manager.operation === 'Update' && manager.subresource === '')
    .sort(([, a], [, b]) => order(a.time ?? '', b.time ?? ''));
  const excess = updaters.length - maxUpdaters;
  if (excess <= 0) return managers;
  const capped = new Map(managers);
  for (const [identity, manager] of updaters.slice(0, excess + 1)) {
    capped.delete(identity);
    const ancient: Manager = { ...manager, manager: 'ancient-changes' };
    const known = capped.get(identityOf(ancient));
    capped.set(identityOf(ancient), {
      ...ancient,
      fields: known ? known.fields.union(ancient.fields) : ancient.fields,
    });
  }
  return capped;
}

export const withoutEmpty = (managers: Managers): Managers =>
  new Map([...managers].filter(([, manager]) => !manager.fields.isEmpty));

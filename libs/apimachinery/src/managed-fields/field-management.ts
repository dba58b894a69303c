import type { KubeObject, SchemaFacts } from '@tinkernetes/api';
import { resolveSchema } from '../schema-lookup';
import type { Comparison } from './compare';
import type { Conflict } from './conflicts';
import { FieldSet } from './field-set';
import { encodeManagers } from './managers';
import type { Manager, Managers } from './managers';
import type { Typed } from './typing';

/** Metadata that nobody owns. */
export const unowned = FieldSet.ofNames([
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

export const typeOf = ({ schemas, schemaName }: Pick<FieldManagement, 'schemas' | 'schemaName'>): Typed => ({
  schema: schemaName === undefined ? undefined : resolveSchema(schemas[schemaName], schemas),
  schemas,
});

export const withoutManagedFields = (object: KubeObject): KubeObject => {
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return { ...object, metadata };
};

export function withManagers(object: KubeObject, managers: Managers): KubeObject {
  const managedFields = encodeManagers(managers);
  const bare = withoutManagedFields(object);
  return managedFields ? { ...bare, metadata: { ...bare.metadata, managedFields } } : bare;
}

/** Callers have a handful of lists, which never change. */
const ignoredSets = new WeakMap<FieldManagement['ignored'], FieldSet>();

export function ignoredSet({ ignored }: FieldManagement): FieldSet {
  let set = ignoredSets.get(ignored);
  if (!set) ignoredSets.set(ignored, (set = FieldSet.ofNames(ignored)));
  return set;
}

export function exclude(comparison: Comparison, ignored: FieldSet): Comparison {
  return {
    added: comparison.added.recursiveDifference(ignored),
    modified: comparison.modified.recursiveDifference(ignored),
    removed: comparison.removed.recursiveDifference(ignored),
  };
}

/** Takes changed fields from other managers; returns what was taken from whom, and all that was set. */
export function takeFromOthers(
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

/** What comes in through the scale subresource carries no time upstream. */
export const timeOf = (subresource: string, now: string): { time?: string } =>
  subresource === 'scale' ? {} : { time: now };

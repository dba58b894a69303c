import type { KubeObject, SchemaFacts } from '@tinkernetes/api';
import { trackUpdate, type FieldManagement } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import type { Strategy } from '../../contracts';
import type { WriteContext } from './write-context';

/** What field ownership needs to know of a kind. */
export interface FieldTyping {
  readonly schemas: SchemaFacts;
  readonly schemaName: string;
  /** The kind without anything set, which a new object is compared with. */
  readonly empty: KubeObject;
  readonly keptByStatus?: Strategy['keptByStatus'];
  /** Whether the kind has that version, too; left out where that is not known. */
  readonly isVersion?: (apiVersion: string) => boolean;
}

export function fieldManagement(
  typing: FieldTyping,
  context: WriteContext,
  now: number,
): FieldManagement & { empty: KubeObject } {
  const { schemas, schemaName, empty, isVersion } = typing;
  return {
    schemas,
    schemaName,
    empty,
    isVersion,
    manager: context.fieldManager,
    operation: context.operation,
    apiVersion: context.apiVersion,
    subresource: context.subresource,
    now: formatTime(now),
    ignored: ignoredPaths(context, typing),
  };
}

/** What a write through an endpoint can't change, so that it doesn't come to own it. */
const ignored = {
  main: [['status']],
  // Who asks for a certificate can't change later what for.
  certificateRequest: [['spec'], ['status']],
  status: [['spec']],
  statusBesideLabels: [['spec'], ['metadata', 'labels']],
  statusAlone: [['spec'], ['metadata']],
  approval: [['spec']],
  scale: [],
} as const satisfies Record<string, FieldManagement['ignored']>;

const ignoredByStatus = { labels: ignored.statusBesideLabels, all: ignored.statusAlone } as const;

function ignoredPaths(
  { subresource }: WriteContext,
  { keptByStatus, empty }: FieldTyping,
): FieldManagement['ignored'] {
  switch (subresource) {
    case 'status':
      return keptByStatus ? ignoredByStatus[keptByStatus] : ignored.status;
    case 'approval':
      return ignored.approval;
    case 'scale':
      return ignored.scale;
    default:
      return empty.kind === 'CertificateSigningRequest' ? ignored.certificateRequest : ignored.main;
  }
}

/** The new object with its managedFields kept current over a create, update or patch. */
export function trackManagedFields(
  live: KubeObject | undefined,
  next: KubeObject,
  context: WriteContext,
  now: number,
): KubeObject {
  if (!context.fields || context.fields.isApply) return next;
  const { typing, inVersion } = context.fields;
  const options = { ...fieldManagement(typing, context, now), isCreate: live === undefined };
  if (!inVersion) return trackUpdate(live ?? typing.empty, next, options);
  // Fields are owned by the names that they have in the request's version.
  const tracked = trackUpdate(live ? inVersion(live) : typing.empty, inVersion(next), options);
  return { ...next, metadata: { ...next.metadata, managedFields: tracked.metadata.managedFields } };
}

/** An object of a kind in which nothing is set: the structs that are always there, without the schema's defaults. */
export function unsetObject(decoded: KubeObject): KubeObject {
  const { kind, apiVersion, metadata: _metadata, ...rest } = decoded;
  return { kind, apiVersion, metadata: { name: '' }, ...(withoutDefaults(rest) as object) };
}

function withoutDefaults(value: object): object {
  const isUnset = (member: unknown) => member === null || typeof member === 'object' || !member;
  const kept = Object.entries(value).filter(([, member]) => isUnset(member));
  return Object.fromEntries(
    kept.map(([name, member]: [string, unknown]) => [
      name,
      typeof member === 'object' && member !== null && !Array.isArray(member)
        ? withoutDefaults(member)
        : member,
    ]),
  );
}

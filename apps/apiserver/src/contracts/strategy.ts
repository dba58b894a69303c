import type { KubeObject, ObjectMeta } from '@tinkernetes/api';
import type { FieldError, FieldErrors } from '@tinkernetes/apimachinery';
import type { ApiRequest, UserInfo } from './request';

export type { FieldError, FieldErrors };

export interface StrategyContext {
  readonly user: UserInfo;
  readonly namespace: string;
  /** The version that the request speaks. */
  readonly apiVersion: string;
  /** Epoch milliseconds. */
  readonly now: number;
  warn(message: string): void;
}

/**
 * What is special about a kind; the generic registry does the rest. All functions are pure: they get frozen objects
 * and return new ones (or the same). One strategy.ts a kind: apps/apiserver/src/registry/<group>/<kind>/strategy.ts.
 */
export interface Strategy<T extends KubeObject = KubeObject> {
  /** Fills in defaults, on every decode of a request and of stored bytes. Static schema defaults are done already. */
  readonly default?: (object: T) => T;
  /** Drops what a create may not set (status) and sets what the server decides. */
  readonly prepareForCreate?: (object: T, context: StrategyContext) => T;
  readonly validate?: (object: T, context: StrategyContext) => FieldErrors;
  readonly prepareForUpdate?: (object: T, old: T, context: StrategyContext) => T;
  readonly validateUpdate?: (object: T, old: T, context: StrategyContext) => FieldErrors;
  readonly prepareForStatusUpdate?: (object: T, old: T, context: StrategyContext) => T;
  readonly validateStatusUpdate?: (object: T, old: T, context: StrategyContext) => FieldErrors;
  /** What of metadata an update of the status leaves as it is, besides what no update changes. */
  readonly keptByStatus?: 'labels' | 'all';
  /** Sent with every answer of the resource. */
  readonly deprecationWarning?: string;
  readonly warnings?: (object: T, old: T | undefined) => readonly string[];
  /** Fields for `fieldSelector` besides metadata.name and metadata.namespace; unknown ones are a 400. */
  readonly selectableFields?: (object: T) => Readonly<Record<string, string>>;
  readonly selectableFieldNames?: readonly string[];
  /** What the 400 says, where the kind has words of its own. */
  readonly unsupportedField?: (field: string) => string;
  /** `metadata.generation` is kept and counts up when anything but metadata and status changes. Default: has status subresource. */
  readonly hasGeneration?: boolean;
  /** Whether an update counts the generation up, seen before `prepareForUpdate`, where the above is not the rule. */
  readonly changesGeneration?: (object: T, old: T) => boolean;
  /** Update without resourceVersion allowed (most kinds), create on update allowed (leases …). */
  readonly allowUnconditionalUpdate?: boolean;
  readonly allowCreateOnUpdate?: boolean;
  /** A create may bring a status (Nodes). Otherwise it is dropped where there is a status subresource. */
  readonly keepsStatusOnCreate?: boolean;
  /** Seconds that a DELETE without gracePeriodSeconds grants; undefined: kind has no graceful deletion. */
  readonly graceful?: (object: T, requestedSeconds: number | undefined) => number;
  /** Rules of subresources besides status that write the object: `resize`, `ephemeralcontainers`, `approval`, `finalize`. */
  readonly subresources?: Readonly<Record<string, SubresourceRules<T>>>;
  /** Finalizers outside of metadata that hold a deletion up (Namespace's spec.finalizers). */
  readonly extraFinalizers?: (object: T) => readonly string[];
  /** The object as a deletion that has to wait leaves it, beyond deletionTimestamp (Namespace's phase). */
  readonly markTerminating?: (object: T) => T;
  /** What a DELETE without propagationPolicy does with dependents. Default: Background. */
  readonly defaultOrphanDependents?: boolean;
  /** Told to whom deletes without saying what is to become of dependents. */
  readonly unspecifiedPropagationWarning?: string;
  /** A DELETE answers with the object instead of a Status. */
  readonly returnDeletedObject?: boolean;
  /** Lifetime of the stored object (Events). */
  readonly ttlSeconds?: (object: T) => number | undefined;
  /** All cells of a row of the Table rendering (the name too), in the order of table-columns.json. */
  readonly tableCells?: (object: T, now: number) => readonly unknown[];
  /** What upstream's internal type holds, and the version shows, where nothing is set: as in bookmarks. */
  readonly unset?: (object: T) => T;
  /** What a row's conditions say of the object; none: they are left out. */
  readonly rowConditions?: (object: T) => readonly object[];
  /** Metadata shown alone or beside a row's cells, where upstream's internal type lacks some of what the version shows. */
  readonly rowMetadata?: (object: T) => ObjectMeta;
}

/** What a write through a subresource may change of its object. */
export interface SubresourceRules<T extends KubeObject = KubeObject> {
  /** The old object with what the subresource is for taken from the new one. */
  readonly prepareForUpdate: (object: T, old: T, context: StrategyContext) => T;
  readonly validateUpdate?: (object: T, old: T, context: StrategyContext) => FieldErrors;
}

/** Allocations and other effects around a write that pure strategies cannot do (cluster IPs, node ports, quotas). */
export interface WriteHooks<T extends KubeObject = KubeObject> {
  /** Before validation of a create/update. The returned `release` is called when the write fails. */
  begin?(
    object: T,
    old: T | undefined,
    request: { dryRun: boolean },
  ): Promise<{ object: T; release(): void }>;
  afterDelete?(object: T): void;
}

/** Handler for `connect` subresources and other special endpoints (log, exec, token, eviction, binding …). */
export type SubresourceHandler = (request: ApiRequest) => Promise<void>;

import type { KubeObject, ResourceDescriptor } from '@tinkernetes/api';
import type { TraceParent } from '@tinkernetes/component-base';

export interface StoredList<T> {
  items: readonly T[];
  resourceVersion: string;
}
export interface WriteInfo {
  trace?: TraceParent;
  dryRun?: boolean;
  /** Whose managedFields entry the write makes; left out: the server's own writes own nothing. */
  fieldManager?: string;
  /** That entry's operation, where upstream's writer applies. Default: Update. */
  operation?: 'Apply';
  subresource?: string;
}

/**
 * The generic registry as the apiserver's own parts (admission plugins, authorizers, token issuer, bootstrap,
 * subresource handlers) use it: decoded, defaulted, deep-frozen objects. Reads come from the watch cache.
 */
export interface ResourceStore<T extends KubeObject = KubeObject> {
  readonly descriptor: ResourceDescriptor<T>;
  /** From the watch cache; throws StatusError NotFound. */
  get(name: string, namespace?: string): Promise<T>;
  /** As `get`, undefined instead of NotFound, synchronously, from the watch cache as it is now. */
  peek(name: string, namespace?: string): T | undefined;
  list(namespace?: string): readonly T[];
  /** Objects of `peek` or `list`, which come in the version that is kept, in that of this store. */
  inOwnVersion(objects: readonly T[]): Promise<readonly T[]>;
  /** Straight to storage, past admission but through the strategy (defaults, validation). */
  create(object: T, info?: WriteInfo): Promise<T>;
  /** Read, change, guarded write, repeated on conflict. `change` returns undefined to leave things as they are. */
  modify(
    name: string,
    namespace: string | undefined,
    change: (current: T) => T | undefined,
    info?: WriteInfo,
  ): Promise<T>;
  delete(name: string, namespace?: string): Promise<void>;
  /** Called for each change that the watch cache sees, after it has been applied there. Returns an unsubscribe. */
  onChange(
    listener: (event: { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T; old?: T }) => void,
  ): () => void;
}

/** All stores of the server, built-in and custom. */
export interface StoreRegistry {
  for<T extends KubeObject>(descriptor: ResourceDescriptor<T>): ResourceStore<T>;
  /** undefined when no such resource is served. */
  find(group: string, resource: string): ResourceStore | undefined;
  /** As `find`, of one version. */
  findVersion(group: string, version: string, resource: string): ResourceStore | undefined;
}

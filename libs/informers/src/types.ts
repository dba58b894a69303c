import type { KubeObject, ResourceDescriptor } from '@tinkernetes/api';

export interface EventHandler<T> {
  added?(object: T, isInInitialList: boolean): void;
  updated?(oldObject: T, newObject: T): void;
  /** The last known state; it may be stale where the deletion was missed and found by a relist. */
  deleted?(object: T): void;
}

/** Of which resource, and at which version, a handler is told. */
export interface Change {
  readonly descriptor: ResourceDescriptor<unknown>;
  readonly resourceVersion: string;
}

/** Called instead of each handler's method; has to call `notify` at once. */
export type AroundNotification = (change: Change, notify: () => void) => void;

export type IndexFunction<T> = (object: T) => readonly string[];

/** Read access to an informer's cache. Objects are shared, must not be changed, and come without their managedFields. */
export interface Lister<T> {
  get(name: string, namespace?: string): T | undefined;
  getByKey(key: string): T | undefined;
  list(namespace?: string): readonly T[];
  /** Objects for which the index function named `index` returned `value`. */
  byIndex(index: string, value: string): readonly T[];
  readonly size: number;
}

/** One list-watch and its cache, shared by any number of handlers. */
export interface SharedInformer<T extends KubeObject> {
  readonly descriptor: ResourceDescriptor<T>;
  readonly lister: Lister<T>;
  /** Before `start` only. */
  addIndex(name: string, index: IndexFunction<T>): void;
  /** May be added at any time: a late handler gets the cache's content as `added`. Returns a function that removes it. */
  addEventHandler(handler: EventHandler<T>): () => void;
  /** Tells all handlers of all objects once more, as `added` in an initial list. */
  replay(): Promise<void>;
  readonly hasSynced: boolean;
  /** Resolves when the first list is in the cache and handlers have seen it. */
  waitForSync(signal?: AbortSignal): Promise<void>;
  /** Of the last event or bookmark; '' before the first list. */
  readonly lastSyncResourceVersion: string;
}

export interface InformerOptions {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** Keep objects' metadata only (PartialObjectMetadata): for who counts or follows owners. */
  metadataOnly?: boolean;
}

/** One informer per (resource, options). */
export interface SharedInformerFactory {
  for<T extends KubeObject>(descriptor: ResourceDescriptor<T>, options?: InformerOptions): SharedInformer<T>;
  /** Whether somebody has asked for the whole objects of all namespaces. */
  has(descriptor: ResourceDescriptor<unknown>): boolean;
  /** Starts all informers asked for so far; call again after asking for more. They stop with the factory's signal. */
  start(): void;
  waitForSync(): Promise<void>;
  /** `SharedInformer.replay` of all. */
  replay(): Promise<void>;
  /** Resolves when all reflectors have ended after the signal. */
  stopped(): Promise<void>;
}

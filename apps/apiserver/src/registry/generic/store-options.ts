import type { KubeObject, ResourceDescriptor } from '@tinkernetes/api';
import type { Clock, Random } from '@tinkernetes/component-base';
import type { Storage } from '@tinkernetes/storage';
import type { CacheEntry, StoredCodec } from '../../cacher/cache-entry';
import type { StorageFeed } from '../../cacher/storage-feed';
import type { ObjectCodec } from '../../codec/object-codec';
import type { Strategy, WriteHooks } from '../../contracts';
import type { FieldTyping } from './field-tracking';

export interface GenericStoreOptions {
  /** The version that is stored. */
  readonly descriptor: ResourceDescriptor;
  readonly strategy: Strategy;
  readonly hooks: WriteHooks;
  readonly codec: ObjectCodec;
  readonly storedCodec: StoredCodec;
  readonly hasStatus: boolean;
  readonly typing: () => FieldTyping;
  readonly prefix: string;
  /** Left out: objects are kept in this store's version. */
  readonly versions?: StoredVersions;
}

/** Between the version that a store works in and the one that is kept. Promises where a webhook converts. */
export interface StoredVersions {
  /** What is kept, in the store's version. */
  fromStored(entry: Pick<CacheEntry, 'object'>): KubeObject | Promise<KubeObject>;
  toStored(object: KubeObject): KubeObject | Promise<KubeObject>;
}

export interface StoreRuntime {
  readonly storage: Storage;
  readonly feed: StorageFeed;
  readonly clock: Clock;
  readonly random: Random;
}

/** What a write left, or would have left (dry run). */
export interface Written {
  entry: CacheEntry;
  created: boolean;
  /** The object is gone: an update removed its last finalizer, or a delete took effect at once. */
  deleted?: boolean;
}

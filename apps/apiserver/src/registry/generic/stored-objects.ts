import type { KubeObject, ResourceDescriptor } from '@tinkernetes/api';
import { deepEqual, notFound } from '@tinkernetes/apimachinery';
import type { KeyValue } from '@tinkernetes/storage';
import { CacheEntry } from '../../cacher/cache-entry';
import type { WatchCache } from '../../cacher/watch-cache';
import type { Strategy } from '../../contracts';
import type { GenericStoreOptions, StoreRuntime } from './store-options';
import { storedBytes, withRevision } from './stored-codec';
import type { WriteContext } from './write-context';

/** The objects of one resource as the cache and storage have them: reads, and guarded writes that follow no rules. */
export class StoredObjects {
  readonly cache: WatchCache;

  constructor(
    readonly options: GenericStoreOptions,
    readonly runtime: StoreRuntime,
  ) {
    this.cache = runtime.feed.cache(options.prefix);
    this.cache.setCodec(options.storedCodec);
    const { group, resource } = options.descriptor;
    this.cache.setResource({ group, resource });
  }

  get descriptor(): ResourceDescriptor {
    return this.options.descriptor;
  }
  get strategy(): Strategy {
    return this.options.strategy;
  }

  /** The current version, as new as storage; throws NotFound. */
  async entry(name: string, namespace = ''): Promise<CacheEntry> {
    await this.runtime.feed.waitUntilFresh();
    const entry = this.cache.get(name, namespace);
    if (!entry) throw notFound(this.descriptor, name);
    return entry;
  }

  /** The entry's object in this store's version. */
  async objectOf(entry: CacheEntry): Promise<KubeObject> {
    return (await this.options.versions?.fromStored(entry)) ?? entry.object;
  }

  keyOf(name: string, namespace: string): string {
    return namespace ? `${this.options.prefix}${namespace}/${name}` : `${this.options.prefix}${name}`;
  }

  /** An entry for an object that is in no cache: dry runs, deleted states. */
  unstored(object: KubeObject, revision: number): CacheEntry {
    const { namespace = '', name } = object.metadata;
    const { storedCodec } = this.options;
    const bytes = storedBytes(object);
    return new CacheEntry({ namespace, name, revision, value: bytes }, { codec: () => storedCodec });
  }

  entryOf(item: KeyValue, object?: KubeObject): CacheEntry {
    const rest = item.key.slice(this.options.prefix.length);
    const slash = rest.indexOf('/');
    const { storedCodec } = this.options;
    const { modRevision: revision, value, trace } = item;
    return new CacheEntry(
      {
        namespace: slash < 0 ? '' : rest.slice(0, slash),
        name: rest.slice(slash + 1),
        revision,
        value,
        trace,
      },
      { codec: () => storedCodec },
      object && withRevision(object, revision),
    );
  }

  /** Writes a new object, which is in the version that is kept; throws GuardFailedError when its key is taken. */
  async insert(object: KubeObject, context: WriteContext): Promise<CacheEntry> {
    const key = this.keyOf(object.metadata.name, context.namespace);
    const bytes = storedBytes(object);
    const ttlSeconds = this.strategy.ttlSeconds?.(object);
    const { storage } = this.runtime;
    const write = () => storage.create(key, bytes, { ttlSeconds, trace: context.trace });
    return this.stored(key, { bytes, object }, () =>
      context.measure ? context.measure('apiserver.storage.write', write) : write(),
    );
  }

  /** Writes the next version over this very one; throws GuardFailedError when it has changed. */
  async replace(current: CacheEntry, object: KubeObject, context: WriteContext): Promise<CacheEntry> {
    const stored = (await this.options.versions?.toStored(object)) ?? object;
    const bytes = storedBytes(stored);
    if (bytes.equals(current.value) || sameContent(stored, current.object)) return current;
    const key = this.keyOf(current.name, current.namespace);
    const ttlSeconds = this.strategy.ttlSeconds?.(object);
    const trace = context.trace ?? current.trace;
    const { storage } = this.runtime;
    return this.stored(key, { bytes, object: stored }, () =>
      storage.update(key, bytes, current.revision, { ttlSeconds, trace }),
    );
  }

  /** Removes this very version from storage; throws GuardFailedError when it has changed. */
  async remove(entry: CacheEntry): Promise<number> {
    const key = this.keyOf(entry.name, entry.namespace);
    const { revision } = await this.runtime.storage.delete(key, entry.revision);
    await this.runtime.feed.waitFor(revision);
    this.options.hooks.afterDelete?.(entry.object);
    return revision;
  }

  /** Writes, lets the cache have the object that is written, and waits until reads show it. */
  private async stored(
    key: string,
    written: { bytes: Buffer; object: KubeObject },
    write: () => Promise<KeyValue>,
  ): Promise<CacheEntry> {
    const { feed } = this.runtime;
    const { object } = written;
    const store = async () => {
      const done = await write();
      await feed.waitFor(done.modRevision);
      return done;
    };
    // What is read of a custom resource is more than what was written: defaults come in on each read.
    const isAsWritten = this.options.codec.schemaName !== undefined;
    const item = await (isAsWritten ? feed.written.during(key, written, store) : store());
    const cached = this.cache.get(object.metadata.name, object.metadata.namespace);
    if (cached?.revision === item.modRevision) return cached;
    return this.entryOf(item, isAsWritten ? object : undefined);
  }
}

/** The same but for the order of keys and the resourceVersion: nothing to write. */
function sameContent(a: KubeObject, b: KubeObject): boolean {
  const { resourceVersion } = b.metadata;
  return deepEqual({ ...a, metadata: { ...a.metadata, resourceVersion } }, b);
}

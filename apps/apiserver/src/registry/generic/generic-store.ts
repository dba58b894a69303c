import type { KubeObject, ResourceDescriptor } from '@tinkernetes/api';
import {
  StatusError,
  alreadyExists,
  conflict,
  deepEqual,
  generateNameConflict,
  invalid,
  invalidError,
  notFound,
  validateObjectMetaUpdate,
} from '@tinkernetes/apimachinery';
import type { Clock, Random } from '@tinkernetes/component-base';
import { GuardFailedError, type KeyValue, type Storage } from '@tinkernetes/storage';
import { CacheEntry, type StoredCodec } from '../../cacher/cache-entry';
import type { StorageFeed } from '../../cacher/storage-feed';
import type { WatchCache } from '../../cacher/watch-cache';
import type {
  FieldErrors,
  ResourceStore,
  Strategy,
  StrategyContext,
  SubresourceRules,
  WriteHooks,
  WriteInfo,
} from '../../contracts';
import type { ObjectCodec } from '../../codec/object-codec';
import { trackManagedFields, type FieldTyping } from './field-tracking';
import { metadataForCreate, metadataForUpdate, specChanged, withGeneration } from './object-meta';
import { storedBytes, withRevision } from './stored-codec';
import { systemContext, type WriteContext } from './write-context';

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

/** How an update comes to its new object. */
export interface UpdateRequest {
  name: string;
  namespace: string;
  /** The wanted object, from the current one; may be called again after a conflict. */
  change(current: KubeObject): KubeObject | Promise<KubeObject>;
  /** For PUT on kinds that may be created so. */
  create?(): KubeObject;
  /** Creates it whatever the kind's strategy says (apply). */
  createIfMissing?: boolean;
  /** The object came as a whole (PUT): another uid means another object. */
  replaces?: boolean;
  /** Throws Conflict instead of trying again when somebody else wrote in between. */
  failOnConflict?: boolean;
}

const maxNameAttempts = 8;
const maxUpdateAttempts = 20;

/** Whose rules an update follows: the object's own, its status's, or those of another subresource. */
export type UpdateKind = 'main' | 'status' | SubresourceRules;

/**
 * Creates, updates and reads the objects of one resource: upstream's registry.Store. What is special about a kind is
 * in its strategy. Source: k8s.io/apiserver/pkg/registry/generic/registry.
 */
export class GenericStore<T extends KubeObject = KubeObject> implements ResourceStore<T> {
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

  get descriptor(): ResourceDescriptor<T> {
    return this.options.descriptor as ResourceDescriptor<T>;
  }
  get strategy(): Strategy {
    return this.options.strategy;
  }

  peek(name: string, namespace?: string): T | undefined {
    return this.cache.get(name, namespace)?.object as T | undefined;
  }

  async get(name: string, namespace?: string): Promise<T> {
    return (await this.entry(name, namespace)).object as T;
  }

  list(namespace?: string): readonly T[] {
    return this.cache.list(namespace).map((entry) => entry.object as T);
  }

  async inOwnVersion(objects: readonly T[]): Promise<readonly T[]> {
    const { versions } = this.options;
    if (!versions) return objects;
    return (await Promise.all(objects.map((object) => versions.fromStored({ object })))) as T[];
  }

  async create(object: T, info: WriteInfo = {}): Promise<T> {
    const namespace = object.metadata.namespace ?? '';
    const { object: decoded } = this.options.codec.decode(object);
    const written = await this.createObject(
      decoded,
      systemContext(this.descriptor, namespace, this.tracked(info)),
    );
    return written.entry.object as T;
  }

  async modify(
    name: string,
    namespace: string | undefined,
    change: (current: T) => T | undefined,
    info: WriteInfo = {},
  ): Promise<T> {
    const written = await this.updateObject(
      {
        name,
        namespace: namespace ?? '',
        change: (current) => change(current as T) ?? current,
      },
      systemContext(this.descriptor, namespace ?? '', this.tracked(info)),
      'raw',
    );
    return written.entry.object as T;
  }

  async delete(name: string, namespace = ''): Promise<void> {
    const entry = await this.entry(name, namespace);
    await this.remove(entry);
  }

  onChange(
    listener: (event: { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T; old?: T }) => void,
  ): () => void {
    return this.cache.subscribe({
      event: ({ type, entry, previous }) =>
        listener({ type, object: entry.object as T, old: previous?.object as T | undefined }),
    });
  }

  /** The current version, as new as storage; throws NotFound. */
  async entry(name: string, namespace = ''): Promise<CacheEntry> {
    await this.runtime.feed.waitUntilFresh();
    const entry = this.cache.get(name, namespace);
    if (!entry) throw notFound(this.descriptor, name);
    return entry;
  }

  async createObject(given: KubeObject, context: WriteContext): Promise<Written> {
    const { random } = this.runtime;
    for (let attempt = 1; ; attempt++) {
      const now = this.runtime.clock.now();
      const object = {
        ...given,
        metadata: metadataForCreate(given.metadata, { namespace: context.namespace, random, now }),
      };
      try {
        return await this.createOnce(object, context);
      } catch (error) {
        if (!(error instanceof GuardFailedError)) throw error;
        const generated = !given.metadata.name && Boolean(given.metadata.generateName);
        if (!generated) throw this.exists(object);
        if (attempt === maxNameAttempts) throw generateNameConflict(this.descriptor, object.metadata.name);
      }
    }
  }

  /** Says so where what is in the way is being deleted. */
  private exists(object: KubeObject): StatusError {
    const { name, namespace } = object.metadata;
    const error = alreadyExists(this.descriptor, name);
    if (!this.peek(name, namespace)?.metadata.deletionTimestamp) return error;
    return new StatusError('AlreadyExists', `object is being deleted: ${error.message}`, {
      details: error.details,
    });
  }

  private async createOnce(given: KubeObject, context: WriteContext): Promise<Written> {
    const { strategy, hooks, hasStatus } = this.options;
    const unique = withUniqueOwners(given, context);
    let object = this.track(undefined, this.withDefaults(unique), context);
    object = await this.mutated(object, undefined, context);
    const strategyContext = this.strategyContext(context);
    if (hasStatus && !strategy.keepsStatusOnCreate) object = withoutStatus(object, this.options.codec);
    object = strategy.prepareForCreate?.(object, strategyContext) ?? object;
    if (strategy.hasGeneration ?? hasStatus) object = withGeneration(object, 1);
    // What is wrong whatever is allocated is said first.
    if (hooks.begin) this.check(object, strategy.validate?.(object, strategyContext) ?? []);
    const begun = await hooks.begin?.(object, undefined, { dryRun: context.dryRun });
    try {
      if (begun) object = begun.object;
      this.check(object, strategy.validate?.(object, strategyContext) ?? []);
      this.warn(object, undefined, context);
      await context.admit?.(object, undefined);
      object = this.canonical(object);
      const key = this.keyOf(object.metadata.name, context.namespace);
      if (context.dryRun) {
        begun?.release();
        return await this.dryRunCreate(key, object);
      }
      if (this.options.versions) object = await this.options.versions.toStored(object);
      return { entry: await this.writeNew(key, object, context), created: true };
    } catch (error) {
      begun?.release();
      throw error;
    }
  }

  private async dryRunCreate(key: string, object: KubeObject): Promise<Written> {
    const { item } = await this.runtime.storage.get(key);
    if (item) throw new GuardFailedError(key, item);
    return { entry: this.unstored(object, 0), created: true };
  }

  private async writeNew(key: string, object: KubeObject, context: WriteContext): Promise<CacheEntry> {
    const bytes = storedBytes(object);
    const ttlSeconds = this.options.strategy.ttlSeconds?.(object);
    const { storage } = this.runtime;
    const write = () => storage.create(key, bytes, { ttlSeconds, trace: context.trace });
    return this.stored(key, { bytes, object }, () =>
      context.measure ? context.measure('apiserver.storage.write', write) : write(),
    );
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

  /** `raw` is for the server's own changes: no strategy but defaults. */
  async updateObject(
    request: UpdateRequest,
    context: WriteContext,
    kind: UpdateKind | 'raw' = 'main',
  ): Promise<Written> {
    for (let attempt = 1; ; attempt++) {
      await this.runtime.feed.waitUntilFresh();
      const current = this.cache.get(request.name, request.namespace);
      if (!current) {
        if (!request.create || !(request.createIfMissing || this.strategy.allowCreateOnUpdate)) {
          throw notFound(this.descriptor, request.name);
        }
        return await this.createObject(request.create(), context);
      }
      try {
        return await this.updateOnce(current, request, context, kind);
      } catch (error) {
        if (!(error instanceof GuardFailedError)) throw error;
        if (error.current) await this.runtime.feed.waitFor(error.current.modRevision);
        if (request.failOnConflict || attempt >= maxUpdateAttempts) {
          throw conflict(this.descriptor, request.name);
        }
      }
    }
  }

  private async updateOnce(
    current: CacheEntry,
    request: UpdateRequest,
    context: WriteContext,
    kind: UpdateKind | 'raw',
  ): Promise<Written> {
    const old = this.options.versions ? await this.options.versions.fromStored(current) : current.object;
    const wanted = await request.change(old);
    if (wanted === old) return { entry: current, created: false };
    if (kind === 'raw')
      return await this.write(current, this.canonical(this.track(old, wanted, context)), context);
    this.checkVersions(wanted, old, { kind, replaces: request.replaces ?? false });
    const { hooks } = this.options;
    const strategyContext = this.strategyContext(context);
    let object: KubeObject = { ...wanted, metadata: metadataForUpdate(wanted.metadata, old.metadata) };
    object = withUniqueOwners(object, context);
    object = this.track(old, this.withDefaults(object), context);
    object = await this.mutated(object, old, context);
    object = this.prepare(object, old, kind, strategyContext);
    const begun = kind === 'main' ? await hooks.begin?.(object, old, { dryRun: context.dryRun }) : undefined;
    try {
      if (begun) object = begun.object;
      const errors = this.rulesOf(kind)?.(object, old, strategyContext);
      // Upstream checks metadata twice, here and in the strategy, and reports both.
      this.check(object, [...validateObjectMetaUpdate(object.metadata, old.metadata), ...(errors ?? [])]);
      this.warn(object, old, context);
      await context.admit?.(object, old);
      if (context.dryRun) begun?.release();
      return await this.write(current, object, context);
    } catch (error) {
      begun?.release();
      throw error;
    }
  }

  private checkVersions(
    wanted: KubeObject,
    old: KubeObject,
    { kind, replaces }: { kind: UpdateKind; replaces: boolean },
  ): void {
    const { resourceVersion, uid } = wanted.metadata;
    if (resourceVersion && !/^\d+$/.test(resourceVersion)) {
      throw new StatusError(
        'Unknown',
        `strconv.ParseUint: parsing ${JSON.stringify(resourceVersion)}: invalid syntax`,
      );
    }
    if (resourceVersion && resourceVersion !== '0') {
      if (resourceVersion !== old.metadata.resourceVersion)
        throw conflict(this.descriptor, old.metadata.name);
    } else if (kind === 'main' && this.options.strategy.allowUnconditionalUpdate === false) {
      const { group, resource } = this.descriptor;
      throw invalidError({ group, kind: resource }, wanted.metadata.name, [
        invalid('metadata.resourceVersion', 0, 'must be specified for an update'),
      ]);
    }
    if (uid && uid !== old.metadata.uid && replaces)
      throw uidConflict(this as unknown as GenericStore, old, uid);
  }

  private prepare(
    object: KubeObject,
    old: KubeObject,
    kind: UpdateKind,
    context: StrategyContext,
  ): KubeObject {
    if (kind === 'main') return this.prepareMain(object, old, context);
    if (kind === 'status') return this.prepareStatus(object, old, context);
    return this.counted(kind.prepareForUpdate(object, old, context), old);
  }

  private rulesOf(kind: UpdateKind): Strategy['validateUpdate'] {
    if (kind === 'main') return this.strategy.validateUpdate;
    return kind === 'status' ? this.strategy.validateStatusUpdate : kind.validateUpdate;
  }

  private prepareMain(object: KubeObject, old: KubeObject, context: StrategyContext): KubeObject {
    const { strategy, hasStatus } = this.options;
    const given = hasStatus ? withStatusOf(object, old) : object;
    const next = strategy.prepareForUpdate?.(given, old, context) ?? given;
    return this.counted(next, old, strategy.changesGeneration?.(given, old));
  }

  /** With the generation counted up where the spec has changed. */
  private counted(
    next: KubeObject,
    old: KubeObject,
    hasChanged = specChanged(next, old, this.options.codec.schemaName === undefined),
  ): KubeObject {
    if (!(this.strategy.hasGeneration ?? this.options.hasStatus)) return next;
    const generation = old.metadata.generation ?? 0;
    return withGeneration(next, hasChanged ? generation + 1 : generation);
  }

  private prepareStatus(object: KubeObject, old: KubeObject, context: StrategyContext): KubeObject {
    const { status } = object as { status?: unknown };
    const next = {
      ...old,
      metadata: object.metadata,
      ...(status === undefined ? undefined : { status }),
    } as KubeObject;
    return this.options.strategy.prepareForStatusUpdate?.(next, old, context) ?? next;
  }

  /** Writes the new version, or removes the object when this update took its last finalizer away. */
  async write(current: CacheEntry, object: KubeObject, context: WriteContext): Promise<Written> {
    if (this.isFinished(object)) {
      if (context.dryRun)
        return { entry: this.unstored(object, current.revision), created: false, deleted: true };
      await this.remove(current);
      return { entry: this.unstored(object, current.revision), created: false, deleted: true };
    }
    if (context.dryRun) return { entry: this.unstored(object, current.revision), created: false };
    const { versions } = this.options;
    const stored = versions ? await versions.toStored(object) : object;
    const bytes = storedBytes(stored);
    if (bytes.equals(current.value) || sameContent(stored, current.object))
      return { entry: current, created: false };
    const key = this.keyOf(current.name, current.namespace);
    const ttlSeconds = this.options.strategy.ttlSeconds?.(object);
    const trace = context.trace ?? current.trace;
    const { storage } = this.runtime;
    const entry = await this.stored(key, { bytes, object: stored }, () =>
      storage.update(key, bytes, current.revision, { ttlSeconds, trace }),
    );
    return { entry, created: false };
  }

  /** Marked as deleted, and nothing holds it any more. */
  private isFinished(object: KubeObject): boolean {
    const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata;
    return (
      deletionTimestamp !== undefined &&
      (deletionGracePeriodSeconds ?? 0) === 0 &&
      (finalizers ?? []).length === 0 &&
      (this.options.strategy.extraFinalizers?.(object) ?? []).length === 0
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

  keyOf(name: string, namespace: string): string {
    return namespace ? `${this.options.prefix}${namespace}/${name}` : `${this.options.prefix}${name}`;
  }

  /** The entry's object in this store's version. */
  async objectOf(entry: CacheEntry): Promise<KubeObject> {
    return (await this.options.versions?.fromStored(entry)) ?? entry.object;
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

  private async mutated(
    object: KubeObject,
    old: KubeObject | undefined,
    context: WriteContext,
  ): Promise<KubeObject> {
    const { mutate, measure } = context;
    if (!mutate) return object;
    const work = () => mutate(object, old);
    return this.withDefaults(await (measure?.('apiserver.admission', work) ?? work()));
  }

  /** Admission and strategies may have added parts that are not yet in the form in which objects are kept. */
  private canonical(object: KubeObject): KubeObject {
    const { codec } = this.options;
    return codec.schemaName ? codec.decode(object).object : object;
  }

  private tracked(info: WriteInfo): WriteInfo & { typing?: FieldTyping } {
    return info.fieldManager === undefined ? info : { ...info, typing: this.options.typing() };
  }

  /** Ownership counts what the request brought: before admission and before the strategy's own changes. */
  private track(live: KubeObject | undefined, next: KubeObject, context: WriteContext): KubeObject {
    return trackManagedFields(live, next, context, this.runtime.clock.now());
  }

  private withDefaults(object: KubeObject): KubeObject {
    return this.options.strategy.default?.(object) ?? object;
  }

  private strategyContext(context: WriteContext): StrategyContext {
    return {
      user: context.user,
      namespace: context.namespace,
      apiVersion: context.apiVersion,
      now: this.runtime.clock.now(),
      warn: (message) => context.warn(message),
    };
  }

  private check(object: KubeObject, errors: FieldErrors): void {
    if (errors.length === 0) return;
    const { group, kind } = this.descriptor;
    throw invalidError({ group, kind }, object.metadata.name, errors);
  }

  private warn(object: KubeObject, old: KubeObject | undefined, context: WriteContext): void {
    for (const warning of this.options.strategy.warnings?.(object, old) ?? []) context.warn(warning);
  }
}

function uidConflict(store: GenericStore, old: KubeObject, uid: string): StatusError {
  const { name, namespace = '', resourceVersion = '' } = old.metadata;
  return conflict(
    store.descriptor,
    name,
    `StorageError: invalid object, Code: 4, Key: ${store.keyOf(name, namespace)}, ResourceVersion: ${resourceVersion}, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid ?? ''}`,
  );
}

/** Each owner once; the client is told when it named one twice. Source: k8s.io/apiserver/pkg/endpoints/handlers. */
function withUniqueOwners(object: KubeObject, context: WriteContext): KubeObject {
  const owners = object.metadata.ownerReferences;
  if (!owners || owners.length < 2) return object;
  const byUid = new Map(owners.map((owner) => [owner.uid, owner]));
  if (byUid.size === owners.length) return object;
  const repeated = new Set(owners.filter((owner) => byUid.get(owner.uid) !== owner).map(({ uid }) => uid));
  context.warn(
    `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${[...repeated].join(', ')}`,
  );
  return { ...object, metadata: { ...object.metadata, ownerReferences: [...byUid.values()] } };
}

/** The same but for the order of keys and the resourceVersion: nothing to write. */
function sameContent(a: KubeObject, b: KubeObject): boolean {
  const { resourceVersion } = b.metadata;
  return deepEqual({ ...a, metadata: { ...a.metadata, resourceVersion } }, b);
}

function withoutStatus(object: KubeObject, codec: ObjectCodec): KubeObject {
  const { status: _, ...rest } = object as KubeObject & { status?: unknown };
  if (!codec.schemaName) return rest;
  const { status } = codec.decode({}).object as { status?: unknown };
  return { ...rest, status } as KubeObject;
}

function withStatusOf(object: KubeObject, old: KubeObject): KubeObject {
  const { status: _, ...rest } = object as KubeObject & { status?: unknown };
  const { status } = old as { status?: unknown };
  return status === undefined ? rest : ({ ...rest, status } as KubeObject);
}

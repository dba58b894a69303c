import type { KubeObject, ResourceDescriptor } from '@tinkernetes/api';
import { keyOf } from '@tinkernetes/apimachinery';
import type { ResourceClient } from '@tinkernetes/client';
import { isTurnLong, letOthersRun, type Clock, type Logger, type Random } from '@tinkernetes/component-base';
import type { Gate } from './gate';
import { deepFreeze } from './deep-freeze';
import { Reflector, type ReflectorSink } from './reflector';
import { shareTexts } from './share-texts';
import { shareUnchanged } from './share-unchanged';
import { Store } from './store';
import type {
  AroundNotification,
  EventHandler,
  IndexFunction,
  InformerOptions,
  Lister,
  SharedInformer,
} from './types';

export interface InformerDeps {
  clock: Clock;
  random: Random;
  logger: Logger;
  signal: AbortSignal;
  /** Freeze cached objects, so that a handler that changes one fails instead of spoiling it for all. */
  freeze: boolean;
  /** Lists take turns in it. */
  lists: Gate;
  /** Gives for equal texts of all objects one and the same. */
  texts: (text: string) => string;
  around?: AroundNotification;
}

export class Informer<T extends KubeObject> implements SharedInformer<T>, ReflectorSink<T> {
  readonly descriptor: ResourceDescriptor<T>;
  private readonly store = new Store<T>();
  private readonly handlers = new Set<EventHandler<T>>();
  private readonly reflector: Reflector<T>;
  private readonly syncWaiters = new Set<() => void>();
  private running: Promise<void> | undefined;
  private isSynced = false;
  /** Who has registered while the store was being filled; undefined at all other times. */
  private lateHandlers: EventHandler<T>[] | undefined;

  constructor(
    resource: ResourceClient<T>,
    scope: InformerOptions,
    private readonly deps: InformerDeps,
  ) {
    this.descriptor = resource.descriptor;
    this.reflector = new Reflector({ ...deps, resource, scope, sink: this });
  }

  get lister(): Lister<T> {
    return this.store;
  }

  get hasSynced(): boolean {
    return this.isSynced;
  }

  get lastSyncResourceVersion(): string {
    return this.reflector.lastSyncResourceVersion;
  }

  addIndex(name: string, index: IndexFunction<T>): void {
    if (this.running) throw new Error(`index "${name}" added to a running informer`);
    this.store.addIndex(name, index);
  }

  addEventHandler(handler: EventHandler<T>): () => void {
    this.handlers.add(handler);
    if (this.lateHandlers) this.lateHandlers.push(handler);
    else for (const tell of this.contentFor([handler])) tell();
    return () => void this.handlers.delete(handler);
  }

  async replay(): Promise<void> {
    await inBatches(this.contentFor([...this.handlers]));
  }

  private contentFor(handlers: readonly EventHandler<T>[]): (() => void)[] {
    return this.store.list().map((object) => () => {
      for (const handler of handlers) this.call(object, () => handler.added?.(object, true));
    });
  }

  waitForSync(signal: AbortSignal = this.deps.signal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.isSynced) return resolve();
      if (signal.aborted) return reject(signal.reason as Error);
      const onSync = () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = () => {
        this.syncWaiters.delete(onSync);
        reject(signal.reason as Error);
      };
      this.syncWaiters.add(onSync);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Starts at the first call; the same promise, which resolves when the reflector has ended, at each. */
  run(): Promise<void> {
    this.running ??= this.reflector.run();
    return this.running;
  }

  async replace(objects: readonly T[]): Promise<void> {
    const gone = new Set(this.store.keys());
    const notifications: (() => void)[] = [];
    // Who registers from now on sees the whole store at once, and must not hear of it twice.
    const handlers = [...this.handlers];
    this.lateHandlers = [];
    for (const object of objects) {
      if (isTurnLong()) await letOthersRun();
      gone.delete(keyOf(object));
      const old = this.put(object);
      if (old && old.metadata.resourceVersion === object.metadata.resourceVersion) continue;
      notifications.push(() => this.notifyPut(handlers, object, old));
    }
    for (const key of gone) {
      const old = this.store.remove(key);
      if (old) notifications.push(() => this.notifyDeleted(handlers, old));
    }
    const late = this.lateHandlers;
    this.lateHandlers = undefined;
    await inBatches(late.length > 0 ? [...notifications, ...this.contentFor(late)] : notifications);
    this.isSynced = true;
    for (const resolve of this.syncWaiters) resolve();
    this.syncWaiters.clear();
  }

  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void {
    if (type === 'DELETED') {
      this.store.remove(keyOf(object));
      this.notifyDeleted(this.handlers, object);
    } else {
      const old = this.put(object);
      this.notifyPut(this.handlers, object, old);
    }
  }

  bookmark(): void {
    // Nothing changes but the resourceVersion, which the reflector keeps.
  }

  private put(object: T): T | undefined {
    // A large part of each object, which no controller reads; a write without them leaves them as they are.
    delete object.metadata.managedFields;
    const old = this.store.getByKey(keyOf(object));
    if (old) shareUnchanged(old, object);
    shareTexts(object, this.deps.texts, old);
    return this.store.put(this.deps.freeze ? deepFreeze(object) : object);
  }

  private notifyPut(handlers: Iterable<EventHandler<T>>, object: T, old: T | undefined): void {
    for (const handler of handlers) {
      this.call(object, () =>
        old ? handler.updated?.(old, object) : handler.added?.(object, !this.isSynced),
      );
    }
  }

  private notifyDeleted(handlers: Iterable<EventHandler<T>>, object: T): void {
    // Where a relist found the deletion, the object's own version is one from before it.
    const change = { metadata: { ...object.metadata, resourceVersion: this.lastSyncResourceVersion } };
    for (const handler of handlers) this.call(change, () => handler.deleted?.(object));
  }

  /** A handler's failure is its own: the others, and the cache, go on. */
  private call({ metadata }: KubeObject, notify: () => void): void {
    const { around } = this.deps;
    try {
      if (around)
        around({ descriptor: this.descriptor, resourceVersion: metadata.resourceVersion ?? '' }, notify);
      else notify();
    } catch (error) {
      this.deps.logger.error({ err: error, resource: this.descriptor.resource }, 'event handler failed');
    }
  }
}

async function inBatches(notifications: readonly (() => void)[]): Promise<void> {
  for (const notify of notifications) {
    if (isTurnLong()) await letOthersRun();
    notify();
  }
}

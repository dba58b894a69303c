import {
  CustomResourceDefinitions,
  type CustomResourceDefinition,
  type ResourceDescriptor,
} from '@tinkernetes/api';
import { deepEqual, isNotFound, setCondition } from '@tinkernetes/apimachinery';
import { formatTime, type Logger } from '@tinkernetes/component-base';
import type { ResourceStore } from '../contracts';
import type { CacheEvent } from '../cacher/cache-event';
import { deleteObject } from '../registry/generic/deletion';
import type { GenericStore } from '../registry/generic/generic-store';
import type { StoreRuntime } from '../registry/generic/store-options';
import type { ResourceTable } from '../registry/generic/resource-table';
import { systemContext } from '../registry/generic/write-context';
import { KeyedWork } from '../server/keyed-work';
import type { ConversionTools } from './conversion/converter';
import { createCustomResources, createStorageStore } from './custom-resources';
import { cleanupFinalizer } from './definition-strategy';
import { isEstablished, statusOf } from './definition-status';

/**
 * Follows the CustomResourceDefinitions: says in their status what is accepted, serves what is established, and
 * removes the instances of those that are being deleted.
 */
export class DefinitionManager {
  private readonly store: ResourceStore<CustomResourceDefinition>;
  private readonly served = new Map<string, ResourceDescriptor[]>();
  /** As what is served was made. */
  private readonly serving = new Map<string, CustomResourceDefinition>();
  /** Definitions that are to go, and end listening to what becomes of their instances. */
  private readonly waiting = new Map<string, () => void>();
  /** Definitions one after the other, so that names are given out in order. */
  private work: Promise<void> = Promise.resolve();
  /** Apart from the others: a webhook that does not answer may hold a deletion up. */
  private readonly deletions: KeyedWork;

  constructor(
    private readonly table: ResourceTable,
    private readonly runtime: StoreRuntime,
    private readonly logger: Logger,
    private readonly conversion: ConversionTools,
  ) {
    this.store = table.for(CustomResourceDefinitions);
    this.deletions = new KeyedWork(runtime.clock, (name) =>
      this.finish(name).catch((error: unknown) => {
        if (isNotFound(error)) return;
        this.logger.warn({ err: error, name }, 'CustomResourceDefinition not deleted');
        throw error;
      }),
    );
  }

  /** Serves what is stored already, then follows changes. */
  start(): () => void {
    for (const definition of this.store.list()) this.serve(definition);
    const unsubscribe = this.store.onChange(({ type, object }) => {
      if (type === 'DELETED') this.forget(object.metadata.name);
      else {
        this.serve(object);
        this.enqueue(object.metadata.name);
      }
    });
    for (const { metadata } of this.store.list()) this.enqueue(metadata.name);
    return () => {
      unsubscribe();
      for (const name of [...this.waiting.keys()]) this.stopWaiting(name);
    };
  }

  /** Resolves when all changes seen so far have been dealt with; nothing new is begun. */
  async settled(): Promise<void> {
    await this.work;
    await this.deletions.stop();
  }

  private enqueue(name: string): void {
    this.work = this.work
      .then(() => this.reconcile(name))
      .catch((error: unknown) => {
        if (!isNotFound(error))
          this.logger.warn({ err: error, name }, 'CustomResourceDefinition not reconciled');
      });
  }

  private async reconcile(name: string): Promise<void> {
    const definition = this.store.peek(name);
    if (!definition) return;
    if (definition.metadata.deletionTimestamp) {
      this.deletions.add(name);
      return;
    }
    const now = formatTime(this.runtime.clock.now());
    const wanted = statusOf(definition, this.store.list(), now);
    if (deepEqual(wanted, definition.status)) return;
    await this.store.modify(
      name,
      undefined,
      (current) => ({ ...current, status: statusOf(current, this.store.list(), now) }),
      { fieldManager: 'kube-apiserver', subresource: 'status' },
    );
  }

  private serve(definition: CustomResourceDefinition): void {
    const { name } = definition.metadata;
    const before = this.serving.get(name);
    if (before && sameResource(before, definition)) return;
    this.unserve(name);
    if (!isEstablished(definition)) return;
    this.serving.set(name, definition);
    const resources = createCustomResources(definition, this.runtime, this.conversion);
    for (const resource of resources) this.table.add(resource);
    this.served.set(
      name,
      resources.map(({ descriptor }) => descriptor),
    );
  }

  private unserve(name: string): void {
    for (const descriptor of this.served.get(name) ?? []) this.table.remove(descriptor);
    this.served.delete(name);
    this.serving.delete(name);
  }

  private forget(name: string): void {
    this.unserve(name);
    this.stopWaiting(name);
  }

  /** Deletes all instances, as far as their finalizers let them go; when the last has gone, the definition follows. */
  private async finish(name: string): Promise<void> {
    const definition = this.store.peek(name);
    const { finalizers = [] } = definition?.metadata ?? {};
    if (!definition?.metadata.deletionTimestamp || !finalizers.includes(cleanupFinalizer)) return;
    const store = isEstablished(definition)
      ? createStorageStore(definition, this.runtime, this.conversion)
      : undefined;
    if (store && !(await this.emptied(store))) {
      await this.sayTerminating(name);
      this.waitFor(name, store);
      return;
    }
    await this.store.modify(name, undefined, (current) => ({
      ...current,
      metadata: {
        ...current.metadata,
        finalizers: (current.metadata.finalizers ?? []).filter((f) => f !== cleanupFinalizer),
      },
    }));
  }

  /** Deletes what is there; whether nothing is left. */
  private async emptied(store: GenericStore): Promise<boolean> {
    for (const { name, namespace } of store.cache.list()) {
      try {
        await deleteObject(store, { name, namespace }, {}, systemContext(store.descriptor, namespace, {}));
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    }
    return store.cache.size === 0;
  }

  /** Goes on when instances have gone. */
  private waitFor(name: string, { cache }: GenericStore): void {
    if (this.waiting.has(name)) return;
    const event = ({ type }: CacheEvent) => {
      if (type === 'DELETED') this.deletions.add(name);
    };
    this.waiting.set(name, cache.subscribe({ event }));
    // The last may have gone before anybody listened.
    if (cache.size === 0) this.deletions.add(name);
  }

  private stopWaiting(name: string): void {
    this.waiting.get(name)?.();
    this.waiting.delete(name);
  }

  private async sayTerminating(name: string): Promise<void> {
    const lastTransitionTime = formatTime(this.runtime.clock.now());
    await this.store.modify(
      name,
      undefined,
      (current) => {
        const conditions = setCondition(current.status?.conditions, {
          type: 'Terminating',
          status: 'True',
          lastTransitionTime,
          reason: 'InstanceDeletionInProgress',
          message: 'CustomResource deletion is in progress',
        });
        if (deepEqual(conditions, current.status?.conditions)) return undefined;
        return { ...current, status: { ...current.status, conditions } };
      },
      { fieldManager: 'kube-apiserver', subresource: 'status' },
    );
  }
}

/** Whether both make the server serve the same: then readers keep what they have decoded. */
const sameResource = (a: CustomResourceDefinition, b: CustomResourceDefinition): boolean =>
  isEstablished(b) &&
  Boolean(a.metadata.deletionTimestamp) === Boolean(b.metadata.deletionTimestamp) &&
  deepEqual(a.spec, b.spec) &&
  deepEqual(a.status?.acceptedNames, b.status?.acceptedNames);

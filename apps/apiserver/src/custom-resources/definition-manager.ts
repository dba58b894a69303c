import {
  CustomResourceDefinitions,
  type CustomResourceDefinition,
  type ResourceDescriptor,
} from '@tinkernetes/api';
import { deepEqual, isNotFound } from '@tinkernetes/apimachinery';
import { formatTime, type Logger } from '@tinkernetes/component-base';
import type { ResourceStore } from '../contracts';
import type { StoreRuntime } from '../registry/generic/generic-store';
import type { ResourceTable } from '../registry/generic/resource-table';
import type { ConversionTools } from './conversion/converter';
import { createCustomResources } from './custom-resources';
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
  /** Definitions one after the other, so that names are given out in order. */
  private work: Promise<void> = Promise.resolve();

  constructor(
    private readonly table: ResourceTable,
    private readonly runtime: StoreRuntime,
    private readonly logger: Logger,
    private readonly conversion: ConversionTools,
  ) {
    this.store = table.for(CustomResourceDefinitions);
  }

  /** Serves what is stored already, then follows changes. */
  start(): () => void {
    for (const definition of this.store.list()) this.serve(definition);
    const unsubscribe = this.store.onChange(({ type, object }) => {
      if (type === 'DELETED') this.unserve(object.metadata.name);
      else {
        this.serve(object);
        this.enqueue(object.metadata.name);
      }
    });
    for (const { metadata } of this.store.list()) this.enqueue(metadata.name);
    return unsubscribe;
  }

  /** Resolves when all changes seen so far have been dealt with. */
  settled(): Promise<void> {
    return this.work;
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
      await this.finish(definition);
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
    const { name, deletionTimestamp } = definition.metadata;
    const before = this.serving.get(name);
    if (before && sameResource(before, definition)) return;
    this.unserve(name);
    if (!isEstablished(definition) || deletionTimestamp) return;
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

  /** Deletes all instances, then lets the definition go. */
  private async finish(definition: CustomResourceDefinition): Promise<void> {
    const { name, finalizers = [] } = definition.metadata;
    if (!finalizers.includes(cleanupFinalizer)) return;
    const [resource] = createCustomResources(definition, this.runtime, this.conversion);
    const { store } = resource ?? {};
    for (const entry of store?.cache.list() ?? []) await store?.remove(entry);
    await this.store.modify(name, undefined, (current) => ({
      ...current,
      metadata: {
        ...current.metadata,
        finalizers: (current.metadata.finalizers ?? []).filter((f) => f !== cleanupFinalizer),
      },
    }));
  }
}

/** Whether both make the server serve the same: then readers keep what they have decoded. */
const sameResource = (a: CustomResourceDefinition, b: CustomResourceDefinition): boolean =>
  isEstablished(b) &&
  !b.metadata.deletionTimestamp &&
  deepEqual(a.spec, b.spec) &&
  deepEqual(a.status?.acceptedNames, b.status?.acceptedNames);

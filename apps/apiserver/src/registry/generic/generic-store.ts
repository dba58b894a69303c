import type { KubeObject, ResourceDescriptor } from '@tinkernetes/api';
import type { ResourceStore, WriteInfo } from '../../contracts';
import { createObject } from './creation';
import type { FieldTyping } from './field-tracking';
import type { Written } from './store-options';
import { StoredObjects } from './stored-objects';
import { updateObject, type UpdateRequest } from './update';
import type { UpdateKind } from './update-rules';
import { systemContext, type WriteContext } from './write-context';

/**
 * Creates, updates and reads the objects of one resource: upstream's registry.Store. What is special about a kind is
 * in its strategy. Source: k8s.io/apiserver/pkg/registry/generic/registry.
 */
export class GenericStore<T extends KubeObject = KubeObject>
  extends StoredObjects
  implements ResourceStore<T>
{
  override get descriptor(): ResourceDescriptor<T> {
    return this.options.descriptor as ResourceDescriptor<T>;
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
    const written = await updateObject(
      this,
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

  createObject(given: KubeObject, context: WriteContext): Promise<Written> {
    return createObject(this, given, context);
  }

  updateObject(request: UpdateRequest, context: WriteContext, kind?: UpdateKind): Promise<Written> {
    return updateObject(this, request, context, kind);
  }

  private tracked(info: WriteInfo): WriteInfo & { typing?: FieldTyping } {
    return info.fieldManager === undefined ? info : { ...info, typing: this.options.typing() };
  }
}

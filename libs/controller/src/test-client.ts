import type { Creatable, KubeObject, ResourceDescriptor } from '@tinkernetes/api';
import { StatusError } from '@tinkernetes/apimachinery';
import type { Client, PatchOptions, ResourceClient } from '@tinkernetes/client';

/** The few calls that this library makes, on objects in memory, for its tests: guarded updates, shallow patches. */
export class TestClient {
  readonly objects = new Map<string, KubeObject>();
  readonly calls: string[] = [];
  /** Set to make every call fail. */
  failure: unknown;
  private version = 0;

  get client(): Client {
    return { for: (descriptor: ResourceDescriptor) => this.resource(descriptor) } as unknown as Client;
  }

  resource<T extends KubeObject>(descriptor: ResourceDescriptor<T>): ResourceClient<T> {
    const keyOf = (name: string, namespace = '') => `${descriptor.resource}/${namespace}/${name}`;
    const find = (name: string, namespace?: string): T => {
      const object = this.objects.get(keyOf(name, namespace));
      if (!object) throw new StatusError('NotFound', `${descriptor.resource} "${name}" not found`);
      return object as T;
    };
    const begin = async (verb: string, name: string) => {
      this.calls.push(`${verb} ${name}`);
      await Promise.resolve();
      if (this.failure) throw this.failure;
    };
    const store = (object: KubeObject): T => {
      const { name, namespace } = object.metadata;
      const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.version) } };
      this.objects.set(keyOf(name, namespace), stored);
      return stored as T;
    };
    return {
      descriptor,
      get: async (name: string, options: { namespace?: string } = {}) => {
        await begin('get', name);
        return find(name, options.namespace);
      },
      create: async (object: Creatable<T>) => {
        const name = object.metadata.name ?? '';
        await begin('create', name);
        if (this.objects.has(keyOf(name, object.metadata.namespace))) {
          throw new StatusError('AlreadyExists', `${descriptor.resource} "${name}" already exists`);
        }
        return store({ ...object, metadata: { ...object.metadata, name } });
      },
      update: async (object: T) => {
        await begin('update', object.metadata.name);
        const current = find(object.metadata.name, object.metadata.namespace);
        if (current.metadata.resourceVersion !== object.metadata.resourceVersion) {
          throw new StatusError('Conflict', 'the object has been modified');
        }
        return store(object);
      },
      patch: async (name: string, patch: object, options: PatchOptions) => {
        await begin('patch', name);
        const { metadata, ...rest } = patch as Partial<KubeObject>;
        const current = find(name, options.namespace);
        return store({ ...current, ...rest, metadata: { ...current.metadata, ...metadata } });
      },
    } as Partial<ResourceClient<T>> as ResourceClient<T>;
  }
}

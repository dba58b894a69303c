import { Nodes, Pods, type KubeObject, type Node, type Pod, type ResourceDescriptor } from '@tinkernetes/api';
import { keyOf } from '@tinkernetes/apimachinery';
import type { Client, ResourceClient } from '@tinkernetes/client';
import type { EventHandler, SharedInformer, SharedInformerFactory } from '@tinkernetes/informers';

/** Objects of one resource, with those who follow them. */
class Store<T extends KubeObject> {
  readonly objects = new Map<string, T>();
  readonly handlers = new Set<EventHandler<T>>();

  put(object: T): void {
    const before = this.objects.get(keyOf(object));
    this.objects.set(keyOf(object), object);
    for (const handler of this.handlers)
      if (before) handler.updated?.(before, object);
      else handler.added?.(object, false);
  }

  remove(key: string): void {
    const before = this.objects.get(key);
    if (!before || !this.objects.delete(key)) return;
    for (const handler of this.handlers) handler.deleted?.(before);
  }
}

/** An API that lives in memory: what the scheduler reads and writes, without HTTP, storage or watch between them. */
export class MemoryApi {
  private readonly stores = new Map<string, Store<KubeObject>>();
  private version = 0;
  bound = 0;
  onBound: (() => void) | undefined;

  readonly informers: SharedInformerFactory = {
    for: (descriptor) => this.informer(descriptor),
    has: () => true,
    start: () => undefined,
    waitForSync: async () => undefined,
    replay: async () => undefined,
    stopped: async () => undefined,
  };

  /** Only what the scheduler calls. */
  readonly client = {
    server: 'memory',
    for: (descriptor: ResourceDescriptor<KubeObject>) => this.resource(descriptor),
    traceOf: () => undefined,
    close: () => undefined,
  } as unknown as Client;

  addNode(node: Node): void {
    this.store(Nodes).put(node);
  }

  addPod(pod: Pod): void {
    this.store(Pods).put(this.stamped({ ...pod, metadata: { ...pod.metadata, uid: pod.metadata.name } }));
  }

  private store<T extends KubeObject>({ resource }: ResourceDescriptor<T>): Store<T> {
    const known = this.stores.get(resource) ?? new Store<KubeObject>();
    this.stores.set(resource, known);
    return known as unknown as Store<T>;
  }

  private stamped<T extends KubeObject>(object: T): T {
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.version) } };
  }

  private informer<T extends KubeObject>(descriptor: ResourceDescriptor<T>): SharedInformer<T> {
    const { objects, handlers } = this.store(descriptor);
    const getByKey = (key: string) => objects.get(key);
    return {
      descriptor,
      lister: {
        get: (name, namespace) => getByKey(namespace ? `${namespace}/${name}` : name),
        getByKey,
        list: (namespace) => {
          const all = [...objects.values()];
          return namespace ? all.filter(({ metadata }) => metadata.namespace === namespace) : all;
        },
        byIndex: () => [],
        get size() {
          return objects.size;
        },
      },
      addIndex: () => undefined,
      addEventHandler: (handler) => {
        handlers.add(handler);
        return () => handlers.delete(handler);
      },
      replay: async () => undefined,
      hasSynced: true,
      waitForSync: async () => undefined,
      lastSyncResourceVersion: '1',
    };
  }

  private resource<T extends KubeObject>(descriptor: ResourceDescriptor<T>): Partial<ResourceClient<T>> {
    const store = this.store(descriptor);
    const keyFor = (name: string, namespace = '') => (namespace ? `${namespace}/${name}` : name);
    return {
      create: async (object) => object as T,
      patch: async (name, patch, { namespace }) => {
        await answered();
        const before = store.objects.get(keyFor(name, namespace));
        const { status } = patch as { status?: object };
        if (!before) return patch as T;
        const after = this.stamped({
          ...before,
          status: { ...(before as { status?: object }).status, ...status },
        });
        store.put(after);
        return after;
      },
      delete: async (name, { namespace } = {}) => {
        await answered();
        store.remove(keyFor(name, namespace));
        return {};
      },
      subresource: async <R>(_method: string, name: string, _sub: string, body?: object, options = {}) => {
        await answered();
        const { namespace } = options as { namespace?: string };
        const pod = store.objects.get(keyFor(name, namespace)) as Pod | undefined;
        const node = (body as { target: { name: string } }).target.name;
        if (!pod || pod.spec?.nodeName) throw new Error(`Pod ${name} can't be bound (again)`);
        store.put(this.stamped({ ...pod, spec: { ...pod.spec, nodeName: node } }) as unknown as T);
        this.bound++;
        this.onBound?.();
        return {} as R;
      },
    };
  }
}

/** A server's answer comes in a later turn of the event loop. */
const answered = () => new Promise<void>((resolve) => setImmediate(resolve));

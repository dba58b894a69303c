import type { KubeObject } from '@tinkernetes/api';
import { keyOf } from '@tinkernetes/apimachinery';
import type { IndexFunction, Lister } from './types';

const namespaceIndex = 'namespace';

/** The objects of one informer by key, with indexes. Reads never copy an object; list results are kept until a change. */
export class Store<T extends KubeObject> implements Lister<T> {
  private readonly objects = new Map<string, T>();
  private readonly indexes = new Map<string, Index<T>>([
    [namespaceIndex, new Index<T>((object) => [object.metadata.namespace ?? ''])],
  ]);
  private all: readonly T[] | undefined;

  addIndex(name: string, index: IndexFunction<T>): void {
    if (this.indexes.has(name)) throw new Error(`index "${name}" exists already`);
    this.indexes.set(name, new Index(index));
  }

  get size(): number {
    return this.objects.size;
  }

  get(name: string, namespace?: string): T | undefined {
    return this.objects.get(namespace ? `${namespace}/${name}` : name);
  }

  getByKey(key: string): T | undefined {
    return this.objects.get(key);
  }

  list(namespace?: string): readonly T[] {
    if (namespace) return this.byIndex(namespaceIndex, namespace);
    this.all ??= [...this.objects.values()];
    return this.all;
  }

  byIndex(name: string, value: string): readonly T[] {
    const index = this.indexes.get(name);
    if (!index) throw new Error(`no index "${name}"`);
    return index.list(value);
  }

  keys(): Iterable<string> {
    return this.objects.keys();
  }

  /** The object that was there before. */
  put(object: T): T | undefined {
    const key = keyOf(object);
    const old = this.objects.get(key);
    this.objects.set(key, object);
    this.all = undefined;
    for (const index of this.indexes.values()) index.replace(key, old, object);
    return old;
  }

  remove(key: string): T | undefined {
    const old = this.objects.get(key);
    if (!old) return undefined;
    this.objects.delete(key);
    this.all = undefined;
    for (const index of this.indexes.values()) index.replace(key, old, undefined);
    return old;
  }
}

interface Bucket<T> {
  byKey: Map<string, T>;
  listed: readonly T[] | undefined;
}

const nothing: readonly never[] = Object.freeze([]);

class Index<T extends KubeObject> {
  private readonly buckets = new Map<string, Bucket<T>>();

  constructor(private readonly valuesOf: IndexFunction<T>) {}

  list(value: string): readonly T[] {
    const bucket = this.buckets.get(value);
    if (!bucket) return nothing;
    bucket.listed ??= [...bucket.byKey.values()];
    return bucket.listed;
  }

  replace(key: string, old: T | undefined, current: T | undefined): void {
    const values = new Set(current ? this.valuesOf(current) : []);
    for (const value of old ? this.valuesOf(old) : []) {
      if (!values.has(value)) this.drop(value, key);
    }
    for (const value of values) {
      const bucket = this.bucket(value);
      bucket.byKey.set(key, current as T);
      bucket.listed = undefined;
    }
  }

  private drop(value: string, key: string): void {
    const bucket = this.buckets.get(value);
    if (!bucket) return;
    bucket.byKey.delete(key);
    bucket.listed = undefined;
    if (bucket.byKey.size === 0) this.buckets.delete(value);
  }

  private bucket(value: string): Bucket<T> {
    let bucket = this.buckets.get(value);
    if (!bucket) this.buckets.set(value, (bucket = { byKey: new Map(), listed: undefined }));
    return bucket;
  }
}

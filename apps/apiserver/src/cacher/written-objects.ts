import type { KubeObject } from '@tinkernetes/api';
import type { KeyValue } from '@tinkernetes/storage';
import { withRevision } from '../registry/generic/stored-codec';

interface WrittenObject {
  readonly bytes: Buffer;
  readonly object: KubeObject;
}

/**
 * Objects that writers have at hand while storage stores them. The event of such a write may come before the writer
 * hears of it; with the object from here nobody has to parse it again.
 */
export class WrittenObjects {
  private readonly byKey = new Map<string, WrittenObject>();

  /** `store` with the object on offer until it is done. */
  async during<T>(key: string, written: WrittenObject, store: () => Promise<T>): Promise<T> {
    this.byKey.set(key, written);
    try {
      return await store();
    } finally {
      if (this.byKey.get(key) === written) this.byKey.delete(key);
    }
  }

  /** The object of exactly these stored bytes, with its revision. */
  storedAs({ key, value, modRevision }: KeyValue): KubeObject | undefined {
    const written = this.byKey.get(key);
    return written?.bytes.equals(value) ? withRevision(written.object, modRevision) : undefined;
  }
}

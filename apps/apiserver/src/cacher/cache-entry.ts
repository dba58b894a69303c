import type { KubeObject } from '@tinkernetes/api';

/** How one resource's stored bytes become objects and answers. */
export interface StoredCodec {
  /** The object in its storage version, with resourceVersion. */
  decode(value: Uint8Array, revision: number): KubeObject;
  /** Bytes as they are served in `encoding` (a key like `json:apps/v1`). */
  encode(entry: CacheEntry, encoding: string): Buffer;
}

/**
 * One version of one object in the watch cache: its stored bytes, and, once somebody needed them, the decoded object
 * and the bytes of each encoding. Shared by all readers and watchers; never changed.
 */
export class CacheEntry {
  private decoded: KubeObject | undefined;
  private encodings: Map<string, Buffer> | undefined;

  constructor(
    readonly namespace: string,
    readonly name: string,
    readonly revision: number,
    readonly value: Uint8Array,
    private readonly codec: () => StoredCodec,
    /** Trace context that was stored beside the object. */
    readonly trace?: string,
    decoded?: KubeObject,
  ) {
    this.decoded = decoded;
  }

  get object(): KubeObject {
    return (this.decoded ??= this.codec().decode(this.value, this.revision));
  }

  bytes(encoding: string): Buffer {
    const known = this.encodings?.get(encoding);
    if (known) return known;
    const bytes = this.codec().encode(this, encoding);
    (this.encodings ??= new Map()).set(encoding, bytes);
    return bytes;
  }

  has(encoding: string): boolean {
    return this.encodings?.has(encoding) ?? false;
  }

  /** Bytes that could not be made from the entry alone: those of a version that a webhook converts to. */
  remember(encoding: string, bytes: Buffer): void {
    (this.encodings ??= new Map()).set(encoding, bytes);
  }

  /** Drops what was made of the stored bytes: its resource's codec has changed. */
  forget(): void {
    this.decoded = undefined;
    this.encodings = undefined;
  }

  /** The same state under the revision of its deletion, as DELETED events show it. */
  deletedAt(revision: number): CacheEntry {
    return new CacheEntry(this.namespace, this.name, revision, this.value, this.codec, this.trace);
  }
}

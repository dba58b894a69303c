import type { KubeObject } from '@tinkernetes/api';
import { deepFreeze } from '@tinkernetes/apimachinery';
import type { ByteSink } from './byte-sink';
import type { ParsedObjects } from './parsed-objects';

/** Where in stored bytes the metadata is. */
export interface MetadataPlace {
  /** Of its value, braces included. */
  readonly start: number;
  readonly end: number;
  /** Where its managedFields begin, which come last in it; `end` less its brace where it has none. */
  readonly managers: number;
}

/** How one resource's stored bytes become objects and answers. */
export interface StoredCodec {
  /** The object in its storage version, with resourceVersion. */
  decode(value: Uint8Array, revision: number): KubeObject;
  /** Bytes as they are served in `encoding` (a key like `json:apps/v1`). */
  encode(entry: CacheEntry, encoding: string): Buffer;
  /** The stored form of a value: another program on the same storage, a kube-apiserver, writes protobuf. */
  adopt(value: Uint8Array): Uint8Array;
  /** Encodings that are cheaper to make again than to keep. */
  isCheap(encoding: string): boolean;
  /** Appends what `encode` makes of a cheap encoding, from the byte `from` on. */
  append(entry: CacheEntry, from: number, sink: ByteSink): void;
  /** The object without its managedFields. */
  decodeUnmanaged(entry: CacheEntry): KubeObject;
  /** Appends the metadata as cheap encodings have it. */
  appendMetadata(entry: CacheEntry, sink: ByteSink): void;
}

/** What the entries of one resource share. */
export interface EntryOwner {
  codec(): StoredCodec;
  /** Bounds how many of them hold more than their bytes. */
  readonly parsed?: ParsedObjects;
}

export interface EntryState {
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  readonly value: Uint8Array;
  /** Trace context that was stored beside the object. */
  readonly trace?: string;
}

/**
 * One version of one object in the watch cache: its stored bytes, and, while somebody needs them, the parsed object
 * and the bytes of each encoding. Shared by all readers and watchers; never changed.
 */
export class CacheEntry {
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  readonly trace: string | undefined;
  private bytesAsStored: Uint8Array;
  private isAdopted = false;
  private decoded: KubeObject | undefined;
  private encodings: Map<string, Buffer> | undefined;
  /** Not made from the entry alone, so not to be had again here. */
  private remembered: Map<string, Buffer> | undefined;
  /** Labels and fields are what selectors ask for of each object: kept when the object itself is forgotten. */
  private knownLabels: Readonly<Record<string, string>> | undefined;
  private knownFields: Readonly<Record<string, string>> | undefined;
  private knownPlace: number | undefined;
  private knownMetadata: MetadataPlace | undefined;

  constructor(
    { namespace, name, revision, value, trace }: EntryState,
    private readonly owner: EntryOwner,
    decoded?: KubeObject,
  ) {
    this.namespace = namespace;
    this.name = name;
    this.revision = revision;
    this.trace = trace;
    this.bytesAsStored = value;
    if (decoded) this.keep(decoded);
  }

  get value(): Uint8Array {
    if (this.isAdopted) return this.bytesAsStored;
    this.isAdopted = true;
    return (this.bytesAsStored = this.owner.codec().adopt(this.bytesAsStored));
  }

  get object(): KubeObject {
    return this.decoded ?? this.keep(deepFreeze(this.decode()));
  }

  /** The object for a single look, as over a whole list: kept only where no other has to be forgotten for it. */
  glance(): KubeObject {
    const { parsed } = this.owner;
    const isKept = this.decoded !== undefined || !parsed || parsed.hasRoomFor(this.bytesAsStored.length);
    return isKept ? this.object : this.decode();
  }

  /** As `glance`, for who needs no managedFields; they may be missing. */
  glanceUnmanaged(): KubeObject {
    if (this.decoded) return this.decoded;
    return this.owner.parsed?.hasRoomFor(this.bytesAsStored.length)
      ? this.object
      : this.owner.codec().decodeUnmanaged(this);
  }

  get labels(): Readonly<Record<string, string>> {
    return (this.knownLabels ??= this.object.metadata.labels ?? noLabels);
  }

  /** The fields that selectors of this resource may name, by what makes them of an object. */
  fields(of: (object: KubeObject) => Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    return (this.knownFields ??= of(this.object));
  }

  bytes(encoding: string): Buffer {
    const known = this.encodings?.get(encoding) ?? this.remembered?.get(encoding);
    if (known) return known;
    const codec = this.owner.codec();
    const bytes = codec.encode(this, encoding);
    if (codec.isCheap(encoding)) return bytes;
    (this.encodings ??= new Map()).set(encoding, bytes);
    this.owner.parsed?.add(this, bytes.length);
    return bytes;
  }

  /** Appends `bytes(encoding)` from the byte `from` on, without making them first where that can be saved. */
  append(encoding: string, from: number, sink: ByteSink): void {
    const codec = this.owner.codec();
    if (codec.isCheap(encoding)) codec.append(this, from, sink);
    else sink.add(this.bytes(encoding), from);
  }

  /** Whether the stored bytes are already this encoding, but for the resourceVersion. */
  isStoredAs(encoding: string): boolean {
    return this.owner.codec().isCheap(encoding);
  }

  /** Appends the metadata; only for who has asked whether the object is stored as it is to be shown. */
  appendMetadata(sink: ByteSink): void {
    this.owner.codec().appendMetadata(this, sink);
  }

  /** Where the codec finds something in the stored bytes; it looks for it once. */
  place(find: (value: Uint8Array) => number): number {
    return (this.knownPlace ??= find(this.value));
  }

  /** Where the codec finds the metadata; it looks for it once. */
  metadataPlace(find: (value: Uint8Array) => MetadataPlace): MetadataPlace {
    return (this.knownMetadata ??= find(this.value));
  }

  has(encoding: string): boolean {
    return (this.encodings?.has(encoding) ?? false) || (this.remembered?.has(encoding) ?? false);
  }

  /** Bytes that could not be made from the entry alone: those of a version that a webhook converts to. */
  remember(encoding: string, bytes: Buffer): void {
    (this.remembered ??= new Map()).set(encoding, bytes);
  }

  /** Leaves the stored bytes and what can't be made of them; the rest is made again when it is needed. */
  release(): void {
    if (this.decoded) this.knownLabels ??= this.decoded.metadata.labels ?? noLabels;
    this.decoded = undefined;
    this.encodings = undefined;
  }

  /** There is a newer version: hardly anybody looks into this one any more. */
  superseded(): void {
    if (this.owner.parsed) this.owner.parsed.release(this);
  }

  /** Drops all that was made of the stored bytes: its resource's codec has changed. */
  forget(): void {
    this.decoded = undefined;
    this.encodings = undefined;
    this.remembered = undefined;
    this.knownLabels = undefined;
    this.knownFields = undefined;
    this.knownPlace = undefined;
    this.knownMetadata = undefined;
  }

  /** The same state under the revision of its deletion, as DELETED events show it. */
  deletedAt(revision: number): CacheEntry {
    // As stored: that needs no codec, which a resource that isn't served has none of.
    const { namespace, name, bytesAsStored: value, trace, owner } = this;
    return new CacheEntry({ namespace, name, revision, value, trace }, owner);
  }

  private decode(): KubeObject {
    return this.owner.codec().decode(this.value, this.revision);
  }

  private keep(object: KubeObject): KubeObject {
    this.decoded = object;
    this.owner.parsed?.add(this, this.bytesAsStored.length);
    return object;
  }
}

const noLabels: Readonly<Record<string, string>> = Object.freeze({});

import { apiVersionOf, type KubeObject, type ObjectMeta, type ResourceDescriptor } from '@tinkernetes/api';
import { decodeProtobuf, encodeProtobuf } from '../../protobuf';
import type { ByteSink } from '../../cacher/byte-sink';
import type { CacheEntry, StoredCodec } from '../../cacher/cache-entry';
import { asBuffer, metadataPlace } from './stored-metadata';

const uidMark = '"uid":"';

/** As upstream writes it. */
export function orderedMetadata(meta: ObjectMeta): ObjectMeta {
  const { name, generateName, namespace, selfLink, uid, resourceVersion, ...others } = meta;
  const { generation, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, ...rest } = others;
  const { labels, annotations, ownerReferences, finalizers, managedFields } = rest;
  // JSON.stringify leaves out what is undefined.
  return {
    name,
    generateName,
    namespace,
    selfLink,
    uid,
    resourceVersion,
    generation,
    creationTimestamp,
    deletionTimestamp,
    deletionGracePeriodSeconds,
    labels,
    annotations,
    ownerReferences,
    finalizers,
    managedFields,
  };
}

/** Stored form: the object's JSON without its resourceVersion, which storage's revision is. */
export function storedBytes(object: KubeObject): Buffer {
  const { kind, apiVersion, metadata, ...rest } = object;
  const text = JSON.stringify({
    kind,
    apiVersion,
    metadata: orderedMetadata({ ...metadata, resourceVersion: undefined }),
    ...rest,
  });
  // Not from Node's pool: these bytes live long, and would keep what lies beside them there alive.
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

/** Where the resourceVersion belongs in stored bytes: behind the uid, where upstream writes it. */
function placeOfRevision(value: Uint8Array): number {
  const bytes = asBuffer(value);
  const at = bytes.indexOf(uidMark);
  if (at < 0) throw new Error('stored object without uid');
  return bytes.indexOf(0x22, at + uidMark.length) + 1;
}

/** The uid, without a look at the rest of the object. */
export function storedUid(entry: CacheEntry): string {
  const end = entry.place(placeOfRevision) - 1;
  const bytes = asBuffer(entry.value);
  return bytes.toString('latin1', bytes.lastIndexOf(0x22, end - 1) + 1, end);
}

const revisionMember = (revision: number): string => `,"resourceVersion":"${revision}"`;

/** The stored bytes with their resourceVersion; 0 stands for not stored. */
function withResourceVersion(entry: CacheEntry): Buffer {
  const bytes = asBuffer(entry.value);
  if (entry.revision === 0) return bytes;
  const at = entry.place(placeOfRevision);
  const inserted = revisionMember(entry.revision);
  const out = Buffer.allocUnsafe(bytes.length + inserted.length);
  bytes.copy(out, 0, 0, at);
  out.write(inserted, at, 'latin1');
  bytes.copy(out, at + inserted.length, at);
  return out;
}

/** The same from the byte `from` on, which lies before the resourceVersion. */
function appendWithResourceVersion(entry: CacheEntry, from: number, sink: ByteSink): void {
  const { value, revision } = entry;
  if (revision === 0) {
    sink.add(value, from);
    return;
  }
  const at = entry.place(placeOfRevision);
  sink.add(value, from, at);
  sink.addAscii(revisionMember(revision));
  sink.add(value, at);
}

export function withRevision(object: KubeObject, revision: number): KubeObject {
  const { name, generateName, namespace, uid, ...rest } = object.metadata;
  const metadata = {
    name,
    ...(generateName === undefined ? undefined : { generateName }),
    ...(namespace === undefined ? undefined : { namespace }),
    ...(uid === undefined ? undefined : { uid }),
    ...rest,
    resourceVersion: String(revision),
  };
  return { ...object, metadata };
}

export function decodeStored(value: Uint8Array, revision: number): KubeObject {
  const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf8');
  const object = JSON.parse(text) as KubeObject;
  if (revision !== 0) object.metadata.resourceVersion = String(revision);
  return object;
}

/** The same without managedFields, which are half of many objects and which few look at. */
function decodeUnmanaged(entry: CacheEntry): KubeObject {
  const bytes = asBuffer(entry.value);
  const { managers, end } = entry.metadataPlace(metadataPlace);
  const text = bytes.toString('utf8', 0, managers) + bytes.toString('utf8', end - 1);
  const object = JSON.parse(text) as KubeObject;
  if (entry.revision !== 0) object.metadata.resourceVersion = String(entry.revision);
  return object;
}

function appendMetadata(entry: CacheEntry, sink: ByteSink): void {
  const bytes = asBuffer(entry.value);
  const { start, end } = entry.metadataPlace(metadataPlace);
  const at = entry.revision === 0 ? end : entry.place(placeOfRevision);
  sink.add(bytes, start, at);
  if (entry.revision !== 0) sink.addAscii(revisionMember(entry.revision));
  sink.add(bytes, at, end);
}

/** Key of the JSON encoding in a version. */
export const jsonEncoding = (descriptor: Pick<ResourceDescriptor, 'group' | 'version'>): string =>
  `json:${apiVersionOf(descriptor)}`;

/** Key of the protobuf encoding in a version. */
export const protobufEncoding = (descriptor: Pick<ResourceDescriptor, 'group' | 'version'>): string =>
  `${protobufPrefix}${apiVersionOf(descriptor)}`;

const protobufPrefix = 'protobuf:';

export function protobufOf(object: object): Buffer {
  const bytes = encodeProtobuf(object);
  if (!bytes) throw new Error(`no protobuf message for ${String((object as KubeObject).kind)}`);
  return bytes;
}

export interface StoredCodecOptions {
  storage: Pick<ResourceDescriptor, 'group' | 'version'>;
  /** For versions besides the stored one. */
  convert(object: KubeObject, apiVersion: string): KubeObject;
  /** Brings an object that another program stored into the form in which objects are kept. */
  canonical?(object: KubeObject): KubeObject;
}

/** How our own stored bytes begin; other programs sort the keys, keep other versions, or write protobuf. */
const ownBeginning = Buffer.from('{"kind":"');
const closingBrace = 0x7d;
const protobufBeginning = Buffer.from('k8s\0');

const startsWith = (value: Uint8Array, beginning: Buffer): boolean =>
  value.length >= beginning.length && beginning.equals(value.subarray(0, beginning.length));

export function createStoredCodec({ storage, convert, canonical }: StoredCodecOptions): StoredCodec {
  const own = jsonEncoding(storage);
  // Custom resources, which nothing brings into a canonical form, are kept in any of their versions.
  const afterKind = Buffer.from(canonical ? `","apiVersion":"${apiVersionOf(storage)}",` : '"');
  const isOwn = (value: Uint8Array): boolean =>
    startsWith(value, ownBeginning) &&
    value.at(-1) === closingBrace &&
    startsWith(value.subarray(value.indexOf(0x22, ownBeginning.length)), afterKind);
  return {
    decode: decodeStored,
    encode(entry: CacheEntry, encoding: string): Buffer {
      if (encoding === own) return withResourceVersion(entry);
      const apiVersion = encoding.slice(encoding.indexOf(':') + 1);
      const object = convert(entry.object, apiVersion);
      return encoding.startsWith(protobufPrefix) ? protobufOf(object) : Buffer.from(JSON.stringify(object));
    },
    adopt(value: Uint8Array): Uint8Array {
      if (isOwn(value)) return value;
      const foreign = startsWith(value, protobufBeginning)
        ? decodeProtobuf(value)
        : (JSON.parse(Buffer.from(value).toString('utf8')) as unknown);
      return storedBytes(canonical?.(foreign as KubeObject) ?? (foreign as KubeObject));
    },
    isCheap: (encoding) => encoding === own,
    append: appendWithResourceVersion,
    decodeUnmanaged,
    appendMetadata,
  };
}

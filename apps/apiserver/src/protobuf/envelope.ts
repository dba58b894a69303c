import { Reader, Writer } from 'protobufjs/minimal';
import { loadProtobufFields, loadSchemas } from '@tinkernetes/api';
import { badRequest } from '@tinkernetes/apimachinery';
import { decodeMessage } from './decode';
import { encodeMessage } from './encode';

/** What each protobuf body begins with. */
const magic = Buffer.from('k8s\0');
const meta = 'k8s.io.apimachinery.pkg.apis.meta.v1';

interface TypeMeta {
  apiVersion?: string;
  kind?: string;
}

let byKind: Map<string, string> | undefined;

/** Full message name of a kind; kinds that every group has (DeleteOptions …) are those of meta/v1. */
export function messageNameOf(apiVersion: string, kind: string): string | undefined {
  if (!byKind) {
    byKind = new Map();
    for (const [schema, { 'x-kubernetes-group-version-kind': gvks }] of Object.entries(loadSchemas())) {
      const message = schema
        .replace(/^io\.k8s\./, 'k8s.io.')
        .replace('-apiserver', '_apiserver')
        .replace('-aggregator', '_aggregator');
      for (const { group, version, kind: k } of gvks ?? [])
        byKind.set(`${group ? `${group}/` : ''}${version}/${k}`, message);
    }
  }
  const known = byKind.get(`${apiVersion}/${kind}`);
  if (known && loadProtobufFields()[known]) return known;
  return loadProtobufFields()[`${meta}.${kind}`] ? `${meta}.${kind}` : undefined;
}

/**
 * The JSON form of an `application/vnd.kubernetes.protobuf` body, apiVersion and kind included. Throws a 400.
 * Source: https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding
 */
export function decodeProtobuf(body: Uint8Array): Record<string, unknown> {
  if (!Buffer.from(body.subarray(0, 4)).equals(magic))
    throw badRequest("the body doesn't begin with the protobuf prefix of Kubernetes");
  const { typeMeta, raw } = readUnknown(body.subarray(4));
  const name = messageNameOf(typeMeta.apiVersion ?? '', typeMeta.kind ?? '');
  if (!name)
    throw badRequest(`no kind "${typeMeta.kind}" is registered for version "${typeMeta.apiVersion}"`);
  return {
    kind: typeMeta.kind,
    apiVersion: typeMeta.apiVersion,
    ...(decodeMessage(name, raw) as Record<string, unknown>),
  };
}

/** The protobuf body of an object; undefined when its kind has no message (custom resources): JSON is sent instead. */
export function encodeProtobuf(object: TypeMeta): Buffer | undefined {
  const name = messageNameOf(object.apiVersion ?? '', object.kind ?? '');
  if (!name) return undefined;
  const message = encodeMessage(name, object);
  return Buffer.concat([beginningOf(object, message.length), message, ending]);
}

/** What comes before an object's message: the prefix, its type, and how long the message is. */
function beginningOf({ apiVersion = '', kind = '' }: TypeMeta, messageLength: number): Buffer {
  const typeMeta = new Writer().uint32(10).string(apiVersion).uint32(18).string(kind).finish();
  const before = new Writer().uint32(10).bytes(typeMeta).uint32(18).uint32(messageLength).finish();
  return Buffer.concat([magic, before]);
}

/** Content encoding and content type, both empty. */
const ending = Buffer.from([26, 0, 34, 0]);

/** An object's message alone, as lists hold it. */
export function encodeMessageOf(object: TypeMeta): Uint8Array {
  const name = messageNameOf(object.apiVersion ?? '', object.kind ?? '');
  if (!name) throw new Error(`no protobuf message for ${object.kind ?? ''}`);
  return encodeMessage(name, object);
}

/** The message in a body. */
export const messageIn = (body: Uint8Array): Uint8Array => readUnknown(body.subarray(4)).raw;

/** Of every list kind. */
const itemsTag = 18;

/**
 * What stands around the messages of a list's items, so that they need not be copied into one. `list` is the list
 * without them.
 */
export function encodeListEnvelope(
  list: TypeMeta,
  itemLengths: readonly number[],
): { head: Buffer; lead(i: number): Buffer; tail: Buffer } {
  const own = encodeMessageOf(list);
  const lead = (i: number) =>
    Buffer.from(
      new Writer()
        .uint32(itemsTag)
        .uint32(itemLengths[i] ?? 0)
        .finish(),
    );
  const length = itemLengths.reduce((sum, item, i) => sum + lead(i).length + item, own.length);
  return { head: Buffer.concat([beginningOf(list, length), own]), lead, tail: ending };
}

/** One frame of a protobuf watch: its length (4 bytes, big-endian), then a WatchEvent that holds the object's body. */
export function encodeWatchFrame(type: string, object: Uint8Array): Buffer {
  const extension = new Writer().uint32(10).bytes(object).finish();
  const event = new Writer().uint32(10).string(type).uint32(18).bytes(extension).finish();
  const frame = Buffer.alloc(4 + event.length);
  frame.writeUInt32BE(event.length);
  frame.set(event, 4);
  return frame;
}

function readUnknown(bytes: Uint8Array): { typeMeta: TypeMeta; raw: Uint8Array } {
  const typeMeta: TypeMeta = {};
  let raw: Uint8Array = new Uint8Array();
  try {
    const reader = Reader.create(bytes);
    while (reader.pos < reader.len) {
      const tag = reader.uint32();
      if (tag >>> 3 === 1) readTypeMeta(typeMeta, reader.bytes());
      else if (tag >>> 3 === 2) raw = reader.bytes();
      else reader.skipType(tag & 7);
    }
  } catch (error) {
    throw badRequest("the protobuf body can't be decoded", error);
  }
  return { typeMeta, raw };
}

function readTypeMeta(typeMeta: TypeMeta, bytes: Uint8Array): void {
  const reader = Reader.create(bytes);
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 === 1) typeMeta.apiVersion = reader.string();
    else if (tag >>> 3 === 2) typeMeta.kind = reader.string();
    else reader.skipType(tag & 7);
  }
}

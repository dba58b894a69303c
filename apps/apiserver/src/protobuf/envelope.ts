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
  const { apiVersion = '', kind = '' } = object;
  const name = messageNameOf(apiVersion, kind);
  if (!name) return undefined;
  const typeMeta = new Writer().uint32(10).string(apiVersion).uint32(18).string(kind).finish();
  const unknown = new Writer()
    .uint32(10)
    .bytes(typeMeta)
    .uint32(18)
    .bytes(encodeMessage(name, object))
    .uint32(26)
    .string('')
    .uint32(34)
    .string('')
    .finish();
  return Buffer.concat([magic, unknown]);
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

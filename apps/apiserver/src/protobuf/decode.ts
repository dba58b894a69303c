import { Reader } from 'protobufjs/minimal';
import { badRequest, setOwn, StatusError } from '@tinkernetes/apimachinery';
import { wellFormed } from '../codec/surrogates';
import { messageType, type FieldType, type MessageType, type ScalarName } from './message-types';
import { specialTypes } from './special-types';
import { unionTypes } from './union-types';

type JsonObject = Record<string, unknown>;

/** Nested deeper than any API type: hostile input. */
const maxDepth = 200;

/** The JSON form of a message. Throws a 400 for bytes that are no such message. */
export function decodeMessage(name: string, bytes: Uint8Array): unknown {
  try {
    return decode(name, bytes, 0);
  } catch (error) {
    // The reader has no error type of its own.
    if (!(error instanceof Error) || error instanceof StatusError || error instanceof TypeError) throw error;
    throw badRequest(`the protobuf body can't be decoded: ${error.message}`, error);
  }
}

function decode(name: string, bytes: Uint8Array, depth: number): unknown {
  if (depth > maxDepth) throw badRequest('the protobuf body is nested too deeply');
  const special = specialTypes.get(name);
  if (special) return special.decode(bytes);
  const type = messageType(name);
  if (!type) throw badRequest(`unknown protobuf message ${name}`);
  const fields = decodeFields(type, bytes, depth);
  const union = unionTypes.get(name);
  return union ? union.toJson(fields) : fields;
}

function decodeFields(type: MessageType, bytes: Uint8Array, depth: number): JsonObject {
  const object: JsonObject = {};
  const reader = Reader.create(bytes);
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    const field = type.byNumber.get(tag >>> 3);
    if (!field) reader.skipType(tag & 7);
    else readField(object, field, { reader, wireType: tag & 7, depth });
  }
  return object;
}

interface Position {
  reader: Reader;
  wireType: number;
  depth: number;
}

function readField(object: JsonObject, field: FieldType, { reader, wireType, depth }: Position): void {
  const { jsonName } = field;
  if (field.map) {
    const [key, value] = readEntry(field, reader.bytes(), depth);
    const map = (object[jsonName] ?? {}) as JsonObject;
    setOwn(map, key, value);
    object[jsonName] = map;
    return;
  }
  if (
    field.repeated &&
    field.scalar &&
    wireType === 2 &&
    field.scalar !== 'string' &&
    field.scalar !== 'bytes'
  ) {
    const packed = Reader.create(reader.bytes());
    while (packed.pos < packed.len) append(object, jsonName, readScalar(packed, field.scalar));
    return;
  }
  const value = field.scalar
    ? readScalar(reader, field.scalar)
    : decode(field.message ?? '', reader.bytes(), depth + 1);
  // An element that says nothing is still there; JSON decoding makes of null what its type has for it.
  if (field.repeated) append(object, jsonName, value ?? null);
  else if (field.inline) Object.assign(object, value);
  else if (value !== undefined && !(field.scalar && !field.pointer && isZero(value)))
    object[jsonName] = value;
}

const isZero = (value: unknown): boolean => value === '' || value === 0 || value === false;

function readEntry(field: FieldType, bytes: Uint8Array, depth: number): [string, unknown] {
  const reader = Reader.create(bytes);
  let key = '';
  // An entry without a value has the zero value, which JSON decoding makes of null.
  let value: unknown = null;
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 === 1) key = wellFormed(reader.string());
    else if (tag >>> 3 === 2)
      value = field.scalar
        ? readScalar(reader, field.scalar)
        : (decode(field.message ?? '', reader.bytes(), depth + 1) ?? null);
    else reader.skipType(tag & 7);
  }
  return [key, value];
}

function append(object: JsonObject, key: string, value: unknown): void {
  const list = object[key] as unknown[] | undefined;
  if (list) list.push(value);
  else object[key] = [value];
}

function readScalar(reader: Reader, scalar: ScalarName): unknown {
  switch (scalar) {
    case 'string':
      return wellFormed(reader.string());
    case 'bool':
      return reader.bool();
    case 'int32':
      return reader.int32();
    case 'uint32':
      return reader.uint32();
    case 'int64':
      return Number(reader.int64());
    case 'uint64':
      return Number(reader.uint64());
    case 'double':
      return reader.double();
    case 'float':
      return reader.float();
    case 'bytes':
      return Buffer.from(reader.bytes()).toString('base64');
  }
}

import { Reader, Writer } from 'protobufjs/minimal';
import type { Field, MessageType } from './message-type';

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

type Fields = Record<string, unknown>;

/** How the value of a field is written (https://protobuf.dev/programming-guides/encoding). */
const wire = { varint: 0, fixed64: 1, delimited: 2 } as const;

/**
 * A plain object as a proto3 message. Absent fields and those with their default are left out; enums may be given by name
 * or number. One table-driven function for all messages instead of those that protobufjs generates for each: a process
 * that starts some hundred Pods never comes so far that they would pay for their compilation.
 */
export function encode(type: MessageType, message: object): Buffer {
  const writer = Writer.create();
  writeMessage(writer, type, message as Fields);
  const bytes = writer.finish();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Every field of the message but members of a oneof that are not set; with `sparse` only what was sent. */
export function decode(type: MessageType, bytes: Uint8Array, { sparse = false } = {}): object {
  return readMessage(type, { reader: Reader.create(bytes), end: bytes.length, sparse });
}

function writeMessage(writer: Writer, { fields, name }: MessageType, message: Fields): void {
  for (const field of fields) {
    const value = message[field.name];
    if (value === undefined || value === null) continue;
    if (field.kind === 'map') writeList(writer, field, entriesOf(field, value));
    else if (!field.isRepeated) writeField(writer, field, { value, always: field.oneof !== undefined });
    else if (Array.isArray(value)) writeList(writer, field, value);
    else throw new TypeError(`${name}.${field.name}: array expected`);
  }
}

function entriesOf(field: Field, map: unknown): object[] {
  if (typeof map !== 'object' || map === null) throw new TypeError(`${field.name}: object expected`);
  return Object.entries(map).map(([key, value]: [string, unknown]) => ({ key, value }));
}

function writeList(writer: Writer, field: Field, values: readonly unknown[]): void {
  if (!isDelimited(field)) return writePacked(writer, field, values);
  for (const value of values) writeField(writer, field, { value, always: true });
}

function writePacked(writer: Writer, field: Field, values: readonly unknown[]): void {
  if (values.length === 0) return;
  writeTag(writer, field, wire.delimited).fork();
  for (const value of values) {
    const known = inContract(field, value);
    if (known !== undefined) writeValue(writer, field, known);
  }
  writer.ldelim();
}

/** `always`: where its presence says something, also a default. */
function writeField(
  writer: Writer,
  field: Field,
  { value, always }: { value: unknown; always: boolean },
): void {
  const known = inContract(field, value);
  if (known === undefined || (!always && isDefault(known))) return;
  writeValue(writeTag(writer, field, wireTypeOf(field)), field, known);
}

const writeTag = (writer: Writer, { number }: Field, type: number): Writer =>
  writer.uint32(((number << 3) | type) >>> 0);

const isDefault = (value: unknown): boolean =>
  value === '' || value === 0 || value === false || (value instanceof Uint8Array && value.length === 0);

/** An enum's number; undefined for a name that the contract doesn't have, which says nothing. */
function inContract(field: Field, value: unknown): unknown {
  if (field.kind !== 'enum' || typeof value === 'number') return value;
  return field.enumeration.numbers.get(value);
}

function writeValue(writer: Writer, field: Field, value: unknown): void {
  switch (field.kind) {
    case 'string':
      writer.string(String(value));
      break;
    case 'bytes':
      writer.bytes(value instanceof Uint8Array ? value : Buffer.from(String(value), 'base64'));
      break;
    case 'bool':
      writer.bool(Boolean(value));
      break;
    case 'double':
      writer.double(Number(value));
      break;
    case 'enum':
      writer.int32(Number(value));
      break;
    case 'map':
    case 'message':
      if (typeof value !== 'object' || value === null) throw new TypeError(`${field.name}: object expected`);
      writeMessage(writer.fork(), field.message(), value as Fields);
      writer.ldelim();
      break;
    default:
      writer[field.kind](Number(value));
  }
}

interface Source {
  reader: Reader;
  /** Where the message ends. */
  end: number;
  sparse: boolean;
}

function readMessage({ name, fields, byNumber }: MessageType, source: Source): Fields {
  const { reader, end, sparse } = source;
  const message: Fields = {};
  if (!sparse)
    for (const field of fields) if (field.oneof === undefined) message[field.name] = defaultOf(field);
  while (reader.pos < end) {
    const tag = reader.uint32();
    const type = tag & 7;
    if (tag >>> 3 === 0) throw new RangeError('invalid field number 0');
    const field = byNumber.get(tag >>> 3);
    if (field && (type === wireTypeOf(field) || (field.isRepeated && type === wire.delimited))) {
      if (field.oneof !== undefined) choose(fields, field, message);
      if (field.isRepeated && type !== wireTypeOf(field)) readPacked(field, message, source);
      else readField(field, message, source);
      if (field.oneof !== undefined && sparse) message[field.oneof] = field.name;
    } else skip(reader, type);
  }
  if (reader.pos !== end) throw new RangeError(`${name}: a field reaches beyond its message`);
  return message;
}

function skip(reader: Reader, type: number): void {
  if (type > 5 || type === 4) throw new RangeError(`invalid wire type ${type}`);
  reader.skipType(type);
}

/** Of a oneof the last member counts. */
function choose(fields: readonly Field[], { oneof }: Field, message: Fields): void {
  for (const other of fields) if (other.oneof === oneof) delete message[other.name];
}

function readField(field: Field, message: Fields, source: Source): void {
  if (field.kind === 'map') {
    const { key, value } = readPart(field.message(), { ...source, sparse: false });
    // An object's prototype is no entry.
    if (key !== '__proto__') ((message[field.name] ??= {}) as Fields)[String(key)] = value;
  } else if (field.isRepeated) listOf(field, message).push(readValue(field, source));
  else message[field.name] = readValue(field, source);
}

function readPacked(field: Field, message: Fields, { reader, ...rest }: Source): void {
  const list = listOf(field, message);
  const end = endOfPart(reader);
  while (reader.pos < end) list.push(readValue(field, { reader, ...rest }));
}

const listOf = ({ name }: Field, message: Fields) => (message[name] ??= []) as unknown[];

function endOfPart(reader: Reader): number {
  const length = reader.uint32();
  return reader.pos + length;
}

const readPart = (type: MessageType, { reader, sparse }: Source): Fields =>
  readMessage(type, { end: endOfPart(reader), reader, sparse });

function readValue(field: Field, source: Source): unknown {
  const { reader } = source;
  switch (field.kind) {
    case 'string':
      // protobufjs' own string() takes what there is where a length reaches beyond the end.
      return utf8.decode(reader.bytes());
    case 'bytes':
      // A copy: the message that it came in need not be kept.
      return Buffer.from(reader.bytes());
    case 'enum': {
      const number = reader.int32();
      return field.enumeration.names.get(number) ?? number;
    }
    case 'int64':
    case 'uint64':
      return Number(reader[field.kind]());
    case 'map':
    case 'message':
      return readPart(field.message(), source);
    default:
      return reader[field.kind]();
  }
}

function defaultOf(field: Field): unknown {
  if (field.isRepeated) return [];
  switch (field.kind) {
    case 'string':
      return '';
    case 'bytes':
      return Buffer.alloc(0);
    case 'bool':
      return false;
    case 'enum':
      return field.enumeration.names.get(0) ?? 0;
    case 'map':
      return {};
    case 'message':
      return null;
    default:
      return 0;
  }
}

const isDelimited = ({ kind }: Field): boolean =>
  kind === 'string' || kind === 'bytes' || kind === 'message' || kind === 'map';

function wireTypeOf(field: Field): number {
  if (isDelimited(field)) return wire.delimited;
  return field.kind === 'double' ? wire.fixed64 : wire.varint;
}

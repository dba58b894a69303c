import type { Field, MessageType } from './message-type';
import { BackwardWriter, Reader, wire } from './wire';

type Fields = Record<string, unknown>;

/** Nothing waits while a message is written: one writer does for all. */
const writer = new BackwardWriter();

/**
 * A plain object as a proto3 message. Absent fields and those with their default are left out; enums may be given by name
 * or number. One table-driven function for all messages instead of a generated one for each: a process that starts some
 * hundred Pods never comes so far that generated code would pay for its compilation.
 */
export function encode(type: MessageType, message: object): Buffer {
  try {
    writeMessage(type, message as Fields);
    return writer.take();
  } finally {
    writer.clear();
  }
}

/** Every field of the message but members of a oneof that are not set; with `sparse` only what was sent. */
export function decode(type: MessageType, bytes: Uint8Array, { sparse = false } = {}): object {
  return readMessage(type, new Reader(bytes), sparse);
}

function writeMessage({ fields, name }: MessageType, message: Fields): void {
  for (let i = fields.length - 1; i >= 0; i--) {
    const field = fields[i] as Field;
    const value = message[field.name];
    if (value === undefined || value === null) continue;
    if (field.kind === 'map') writeList(field, entriesOf(field, value));
    else if (!field.isRepeated) writeField(field, value, field.oneof !== undefined);
    else if (Array.isArray(value)) writeList(field, value);
    else throw new TypeError(`${name}.${field.name}: array expected`);
  }
}

function entriesOf(field: Field, map: unknown): object[] {
  if (typeof map !== 'object' || map === null) throw new TypeError(`${field.name}: object expected`);
  return Object.entries(map).map(([key, value]: [string, unknown]) => ({ key, value }));
}

function writeList(field: Field, values: readonly unknown[]): void {
  if (!isDelimited(field)) return writePacked(field, values);
  for (let i = values.length - 1; i >= 0; i--) writeField(field, values[i], true);
}

function writePacked(field: Field, values: readonly unknown[]): void {
  if (values.length === 0) return;
  const before = writer.length;
  for (let i = values.length - 1; i >= 0; i--) {
    const known = inContract(field, values[i]);
    if (known !== undefined) writeValue(field, known);
  }
  writer.uint32(writer.length - before);
  writer.tag(field.number, wire.delimited);
}

/** `always`: where its presence says something, also a default. */
function writeField(field: Field, value: unknown, always: boolean): void {
  const known = inContract(field, value);
  if (known === undefined || (!always && isDefault(known))) return;
  writeValue(field, known);
  writer.tag(field.number, wireTypeOf(field));
}

const isDefault = (value: unknown): boolean =>
  value === '' || value === 0 || value === false || (value instanceof Uint8Array && value.length === 0);

/** An enum's number; undefined for a name that the contract doesn't have, which says nothing. */
function inContract(field: Field, value: unknown): unknown {
  if (field.kind !== 'enum' || typeof value === 'number') return value;
  return field.enumeration.numbers.get(value);
}

function writeValue(field: Field, value: unknown): void {
  switch (field.kind) {
    case 'string':
      return writer.text(String(value));
    case 'bytes':
      return writer.bytes(value instanceof Uint8Array ? value : Buffer.from(String(value), 'base64'));
    case 'bool':
      return writer.uint32(value ? 1 : 0);
    case 'uint32':
      return writer.uint32(Number(value) >>> 0);
    case 'int32':
    case 'enum':
      return writer.int64(Number(value) | 0);
    case 'int64':
    case 'uint64':
      return writer.int64(Number(value));
    case 'double':
      return writer.double(Number(value));
    case 'map':
    case 'message': {
      if (typeof value !== 'object' || value === null) throw new TypeError(`${field.name}: object expected`);
      const before = writer.length;
      writeMessage(field.message(), value as Fields);
      return writer.uint32(writer.length - before);
    }
  }
}

function readMessage({ fields, byNumber }: MessageType, reader: Reader, sparse: boolean): Fields {
  const message: Fields = {};
  if (!sparse)
    for (const field of fields) if (field.oneof === undefined) message[field.name] = defaultOf(field);
  while (!reader.isAtEnd) {
    const tag = reader.uint32();
    const number = tag >>> 3;
    const type = tag & 7;
    if (number === 0) throw new RangeError('invalid field number 0');
    const field = byNumber.get(number);
    if (field && (type === wireTypeOf(field) || (field.isRepeated && type === wire.delimited))) {
      if (field.oneof !== undefined) choose(fields, field, message);
      readField(field, message, { reader, type, sparse });
      if (field.oneof !== undefined && sparse) message[field.oneof] = field.name;
    } else reader.skip(type);
  }
  return message;
}

/** Of a oneof the last member counts. */
function choose(fields: readonly Field[], { oneof }: Field, message: Fields): void {
  for (const other of fields) if (other.oneof === oneof) delete message[other.name];
}

interface Source {
  reader: Reader;
  /** As which the value comes. */
  type: number;
  sparse: boolean;
}

function readField(field: Field, message: Fields, { reader, type, sparse }: Source): void {
  if (field.kind === 'map') {
    const { key, value } = readMessage(field.message(), reader.part(), false);
    // An object's prototype is no entry.
    if (key !== '__proto__') ((message[field.name] ??= {}) as Fields)[String(key)] = value;
  } else if (!field.isRepeated) message[field.name] = readValue(field, reader, sparse);
  else {
    const list = (message[field.name] ??= []) as unknown[];
    if (type !== wire.delimited || isDelimited(field)) list.push(readValue(field, reader, sparse));
    else for (const part = reader.part(); !part.isAtEnd;) list.push(readValue(field, part, sparse));
  }
}

function readValue(field: Field, reader: Reader, sparse: boolean): unknown {
  switch (field.kind) {
    case 'string':
      return reader.text();
    case 'bytes':
      return reader.bytes();
    case 'bool':
      return reader.uint32() !== 0;
    case 'uint32':
      return reader.uint32();
    case 'int32':
      return reader.uint32() | 0;
    case 'enum': {
      const number = reader.uint32() | 0;
      return field.enumeration.names.get(number) ?? number;
    }
    case 'int64':
      return reader.int64();
    case 'uint64':
      return reader.uint64();
    case 'double':
      return reader.double();
    case 'map':
    case 'message':
      return readMessage(field.message(), reader.part(), sparse);
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

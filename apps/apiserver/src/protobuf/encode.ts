import { Writer } from 'protobufjs/minimal';
import { messageType, type FieldType, type ScalarName } from './message-types';
import { specialTypes } from './special-types';
import { unionTypes } from './union-types';

type JsonObject = Readonly<Record<string, unknown>>;

/** The message of a JSON form. Keys that the message doesn't have are left out. */
export function encodeMessage(name: string, value: unknown): Uint8Array {
  const special = specialTypes.get(name);
  if (special) return special.encode(value);
  const type = messageType(name);
  if (!type) throw new Error(`unknown protobuf message ${name}`);
  const object = (unionTypes.get(name)?.toFields(value) ?? value) as JsonObject;
  const writer = new Writer();
  for (const field of type.fields) writeField(writer, field, field.inline ? object : object[field.jsonName]);
  return writer.finish();
}

function writeField(writer: Writer, field: FieldType, value: unknown): void {
  if (value === undefined || value === null) return;
  if (field.map) {
    for (const [key, item] of Object.entries(value as JsonObject)) {
      const entry = new Writer().uint32(10).string(key);
      writeValue(entry, { ...field, number: 2 }, item);
      writer.uint32(tag(field.number, 2)).bytes(entry.finish());
    }
  } else if (field.repeated) {
    for (const item of value as unknown[]) writeValue(writer, field, item);
  } else {
    writeValue(writer, field, value);
  }
}

function writeValue(
  writer: Writer,
  field: Pick<FieldType, 'number' | 'scalar' | 'message' | 'inline'>,
  value: unknown,
): void {
  if (field.scalar) return writeScalar(writer, field.number, field.scalar, value);
  const bytes = encodeMessage(field.message ?? '', value);
  // An embedded struct that has none of its fields is not written.
  if (field.inline && bytes.length === 0) return;
  writer.uint32(tag(field.number, 2)).bytes(bytes);
}

const tag = (number: number, wireType: number): number => (number << 3) | wireType;

function writeScalar(writer: Writer, number: number, scalar: ScalarName, value: unknown): void {
  switch (scalar) {
    case 'string':
      writer.uint32(tag(number, 2)).string(String(value));
      return;
    case 'bytes':
      writer.uint32(tag(number, 2)).bytes(Buffer.from(String(value), 'base64'));
      return;
    case 'bool':
      writer.uint32(tag(number, 0)).bool(Boolean(value));
      return;
    case 'int32':
      writer.uint32(tag(number, 0)).int32(Number(value));
      return;
    case 'uint32':
      writer.uint32(tag(number, 0)).uint32(Number(value));
      return;
    case 'int64':
      writer.uint32(tag(number, 0)).int64(Number(value));
      return;
    case 'uint64':
      writer.uint32(tag(number, 0)).uint64(Number(value));
      return;
    case 'double':
      writer.uint32(tag(number, 1)).double(Number(value));
      return;
    case 'float':
      writer.uint32(tag(number, 5)).float(Number(value));
      return;
  }
}

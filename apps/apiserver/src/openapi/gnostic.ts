import { Writer } from 'protobufjs/minimal';
import { isObject } from '@tinkernetes/apimachinery';

/*
 * Gnostic's messages are the OpenAPI documents' JSON with a few rules: these build messages from them. Source:
 * proto/openapi.
 */

/** Writes a value as the field of that number. */
export type Type = (writer: Writer, field: number, value: unknown) => void;

const lengthDelimited = 2;
const key = (field: number, wireType: number): number => (field << 3) | wireType;

export const string: Type = (writer, field, value) => {
  writer.uint32(key(field, lengthDelimited)).string(String(value));
};
export const bool: Type = (writer, field, value) => {
  if (value === true) writer.uint32(key(field, 0)).bool(true);
};
export const int64: Type = (writer, field, value) => {
  writer.uint32(key(field, 0)).int64(Number(value));
};
export const double: Type = (writer, field, value) => {
  writer.uint32(key(field, 1)).double(Number(value));
};
/** Any value, as YAML text: JSON is that, too. */
export const any: Type = (writer, field, value) => {
  writer.uint32(key(field, lengthDelimited)).fork();
  string(writer, 2, `${JSON.stringify(value)}\n`);
  writer.ldelim();
};

export const list =
  (item: Type): Type =>
  (writer, field, value) => {
    for (const element of Array.isArray(value) ? (value as unknown[]) : [value]) item(writer, field, element);
  };

/** A message that holds the value in one field: a union, or a list that may be absent. */
export const within =
  (inner: number, item: Type): Type =>
  (writer, field, value) => {
    writer.uint32(key(field, lengthDelimited)).fork();
    item(writer, inner, value);
    writer.ldelim();
  };

/** One of several types, as the value is. */
export const choice =
  (choose: (value: unknown) => Type): Type =>
  (writer, field, value) =>
    choose(value)(writer, field, value);

/** An object's members as `{name, value}`, repeated. */
export const named =
  (item: Type): Type =>
  (writer, field, value) => {
    for (const [name, member] of Object.entries(isObject(value) ? value : {})) {
      writer.uint32(key(field, lengthDelimited)).fork();
      string(writer, 1, name);
      item(writer, 2, member);
      writer.ldelim();
    }
  };

/** Members by their names in the document. */
export type Fields = Readonly<Record<string, readonly [field: number, type: Type]>>;

/** A message; members that begin with `x-` go to its extensions, others that it does not know nowhere. */
export function message(fields: () => Fields, extensions?: number): Type {
  let known: Fields | undefined;
  return (writer, field, value) => {
    writer.uint32(key(field, lengthDelimited)).fork();
    writeMembers(writer, value, (known ??= fields()), extensions);
    writer.ldelim();
  };
}

const extension = named(any);

export function writeMembers(writer: Writer, value: unknown, fields: Fields, extensions?: number): void {
  for (const [name, member] of Object.entries(isObject(value) ? value : {})) {
    const known = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (known) known[1](writer, known[0], member);
    else if (extensions !== undefined && name.startsWith('x-'))
      extension(writer, extensions, { [name]: member });
  }
}

/** The bytes of a whole document. */
export function encodeDocument(value: object, fields: Fields): Buffer {
  const writer = new Writer();
  writeMembers(writer, value, fields);
  return Buffer.from(writer.finish());
}

import { Reader, Writer } from 'protobufjs/minimal';
import { badRequest } from '@tinkernetes/apimachinery';

/** A type whose JSON form is not that of its message. */
export interface SpecialType {
  encode(value: unknown): Uint8Array;
  /** undefined: the field is left out. */
  decode(bytes: Uint8Array): unknown;
}

const meta = 'k8s.io.apimachinery.pkg.apis.meta.v1';
const extensions = 'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1';

/** Field 1 holds a text. */
const stringBox: SpecialType = {
  encode: (value) => new Writer().uint32(10).string(String(value)).finish(),
  decode: (bytes) => boxed(bytes)?.toString('utf8'),
};

/** Field 1 holds JSON. */
const jsonBox: SpecialType = {
  encode: (value) =>
    new Writer()
      .uint32(10)
      .bytes(Buffer.from(JSON.stringify(value)))
      .finish(),
  decode(bytes) {
    const raw = boxed(bytes);
    if (!raw || raw.length === 0) return undefined;
    try {
      return JSON.parse(raw.toString('utf8')) as unknown;
    } catch (error) {
      throw badRequest('a raw extension holds no JSON', error);
    }
  },
};

/** `{seconds, nanos}`; the empty message is the zero time, which JSON writes as null. */
const time = (fraction: number): SpecialType => ({
  encode(value) {
    const text = String(value);
    const ms = Date.parse(text);
    const writer = new Writer().uint32(8).int64(Math.floor(ms / 1000));
    const digits = /\.(\d+)/.exec(text)?.[1];
    if (digits) writer.uint32(16).int32(Number(digits.padEnd(9, '0').slice(0, 9)));
    return writer.finish();
  },
  decode(bytes) {
    const { seconds, nanos } = pair(bytes);
    if (seconds === undefined) return undefined;
    const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
    return fraction === 0
      ? `${whole}Z`
      : `${whole}.${String(nanos ?? 0)
          .padStart(9, '0')
          .slice(0, fraction)}Z`;
  },
});

/** `{type: 0 number | 1 text, intVal, strVal}` */
const intOrString: SpecialType = {
  encode: (value) =>
    typeof value === 'number'
      ? new Writer().uint32(8).int64(0).uint32(16).int32(value).uint32(26).string('').finish()
      : new Writer().uint32(8).int64(1).uint32(16).int32(0).uint32(26).string(String(value)).finish(),
  decode(bytes) {
    const reader = Reader.create(bytes);
    let [type, number, text] = [0, 0, ''];
    while (reader.pos < reader.len) {
      const tag = reader.uint32();
      if (tag >>> 3 === 1) type = Number(reader.int64());
      else if (tag >>> 3 === 2) number = reader.int32();
      else if (tag >>> 3 === 3) text = reader.string();
      else reader.skipType(tag & 7);
    }
    return type === 0 ? number : text;
  },
};

/** `{items: repeated string}`, in JSON the list itself. */
const stringList: SpecialType = {
  encode(value) {
    const writer = new Writer();
    for (const item of value as string[]) writer.uint32(10).string(item);
    return writer.finish();
  },
  decode(bytes) {
    const reader = Reader.create(bytes);
    const items: string[] = [];
    while (reader.pos < reader.len) {
      const tag = reader.uint32();
      if (tag >>> 3 === 1) items.push(reader.string());
      else reader.skipType(tag & 7);
    }
    return items;
  },
};

/** By full message name. */
export const specialTypes: ReadonlyMap<string, SpecialType> = new Map([
  ['k8s.io.apimachinery.pkg.api.resource.Quantity', stringBox],
  ['k8s.io.apimachinery.pkg.util.intstr.IntOrString', intOrString],
  ['k8s.io.apimachinery.pkg.runtime.RawExtension', jsonBox],
  [`${meta}.FieldsV1`, jsonBox],
  [`${meta}.Time`, time(0)],
  [`${meta}.MicroTime`, time(6)],
  [`${meta}.Verbs`, stringList],
  [`${extensions}.JSON`, jsonBox],
  ['k8s.io.api.authentication.v1.ExtraValue', stringList],
  ['k8s.io.api.authorization.v1.ExtraValue', stringList],
  ['k8s.io.api.certificates.v1.ExtraValue', stringList],
]);

function boxed(bytes: Uint8Array): Buffer | undefined {
  const reader = Reader.create(bytes);
  let value: Buffer | undefined;
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 === 1) value = Buffer.from(reader.bytes());
    else reader.skipType(tag & 7);
  }
  return value;
}

function pair(bytes: Uint8Array): { seconds?: number; nanos?: number } {
  const reader = Reader.create(bytes);
  const out: { seconds?: number; nanos?: number } = {};
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 === 1) out.seconds = Number(reader.int64());
    else if (tag >>> 3 === 2) out.nanos = reader.int32();
    else reader.skipType(tag & 7);
  }
  return out;
}

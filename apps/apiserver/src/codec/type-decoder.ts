import { loadProtobufFields, loadSchemas, type OpenAPISchema } from '@tinkernetes/api';
import { deepFreeze } from '@tinkernetes/apimachinery';
import {
  alwaysStructs,
  nullLists,
  nullTimes,
  omittedZeros,
  pointerStrings,
  pointerStructs,
} from './go-types';
import { scalarDecoders } from './scalar-decoders';

/** Where the decoder is, for messages. */
export interface DecodeState {
  /** Go struct that holds the current field: `PodSpec`. */
  struct: string;
  /** JSON names of the fields on the way, without list indices, as encoding/json reports them. */
  readonly path: string[];
  /** Set when a field without a place in the type was seen. */
  sawUnknown: boolean;
}
export type Decode = (value: unknown, state: DecodeState) => unknown;

/** The JSON value does not fit the type; the message is worded as Go's encoding/json words it. */
export class TypeMismatchError extends Error {
  override readonly name = 'TypeMismatchError';
}

interface Field {
  name: string;
  decode: Decode;
  /** Whether an empty decoded value is left out. */
  omits(value: unknown): boolean;
  /** A list that is written as null when it is empty. */
  emptyIsNull: boolean;
  /** What is written when the field is missing; undefined: nothing. */
  missing(): unknown;
}

const decoders = new Map<string, Decode>();

/** Decoder for a schema by its full name. Compiled once, when first asked for. */
export function decoderOf(schemaName: string): Decode {
  const known = decoders.get(schemaName);
  if (known) return known;
  const scalar = scalarDecoders[shortName(schemaName)];
  const schema = loadSchemas()[schemaName];
  if (!schema) throw new Error(`no schema ${schemaName}`);
  let compiled: Decode | undefined = scalar;
  const lazy: Decode = (value, state) => (compiled ??= compileStruct(schemaName, schema))(value, state);
  decoders.set(schemaName, lazy);
  return lazy;
}

/** `Container` of `io.k8s.api.core.v1.Container`. */
export const shortName = (schemaName: string): string => schemaName.slice(schemaName.lastIndexOf('.') + 1);

/** `v1.Container`: how Go prints the type. */
function goName(schemaName: string): string {
  const parts = schemaName.split('.');
  return parts.slice(-2).join('.');
}

export function referenceOf(schema: OpenAPISchema): string | undefined {
  const ref = schema.$ref ?? schema.allOf?.[0]?.$ref;
  return ref?.slice(2);
}

/** The Go type that a schema stands for, as error messages name it. */
function goTypeOf(schema: OpenAPISchema): string {
  const ref = referenceOf(schema);
  if (ref) return goName(ref);
  switch (schema.type) {
    case 'array':
      return `[]${goTypeOf(schema.items ?? {})}`;
    case 'object':
      return `map[string]${goTypeOf(schema.additionalProperties ?? {})}`;
    case 'integer':
      return schema.format ?? 'int64';
    case 'number':
      return 'float64';
    case 'boolean':
      return 'bool';
    case 'string':
      return schema.format === 'byte' ? '[]uint8' : 'string';
    case undefined:
      return 'interface {}';
  }
}

export function jsonTypeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (value === null) return 'null';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

export function mismatch(value: unknown, goType: string, state: DecodeState): TypeMismatchError {
  const number = typeof value === 'number' && /^(u?int|float)/.test(goType);
  const what = number ? `number ${String(value)}` : jsonTypeOf(value);
  const place = state.path.length
    ? `Go struct field ${state.struct}.${state.path.join('.')} of type ${goType}`
    : `Go value of type ${goType}`;
  return new TypeMismatchError(`json: cannot unmarshal ${what} into ${place}`);
}

function compile(schema: OpenAPISchema): Decode {
  const ref = referenceOf(schema);
  if (ref) return decoderOf(ref);
  const goType = goTypeOf(schema);
  switch (schema.type) {
    case 'array':
      return listDecoder(compile(schema.items ?? {}), zeroOf(schema.items ?? {}), goType);
    case 'object':
      return schema.additionalProperties
        ? mapDecoder(compile(schema.additionalProperties), zeroOf(schema.additionalProperties), goType)
        : anyObject(goType);
    case 'integer':
      return integerDecoder(goType);
    case 'number':
      return typed('number', goType);
    case 'boolean':
      return typed('boolean', goType);
    case 'string':
      return schema.format === 'byte' ? bytesDecoder : typed('string', goType);
    case undefined:
      return (value) => value;
  }
}

const typed =
  (type: 'string' | 'number' | 'boolean', goType: string): Decode =>
  (value, state) => {
    if (typeof value !== type) throw mismatch(value, goType, state);
    return value;
  };

const anyObject =
  (goType: string): Decode =>
  (value, state) => {
    if (jsonTypeOf(value) !== 'object') throw mismatch(value, goType, state);
    return value;
  };

function integerDecoder(goType: string): Decode {
  const [low, high] = goType === 'int32' ? [-(2 ** 31), 2 ** 31 - 1] : [-(2 ** 63), 2 ** 63];
  return (value, state) => {
    if (typeof value !== 'number' || !Number.isInteger(value) || value < low || value > high) {
      throw mismatch(value, goType, state);
    }
    return value;
  };
}

const bytesDecoder: Decode = (value, state) => {
  if (typeof value !== 'string') throw mismatch(value, '[]uint8', state);
  const at = illegalBase64(value);
  if (at >= 0) throw new TypeMismatchError(`illegal base64 data at input byte ${at}`);
  return value;
};

/** Index of the first byte that standard base64 can't have there, -1 if none. */
function illegalBase64(text: string): number {
  const match = /^[A-Za-z0-9+/\r\n]*/.exec(text);
  const end = match?.[0].length ?? 0;
  const significant = text.slice(0, end).replace(/[\r\n]/g, '').length;
  const padding = text.slice(end);
  if (!/^=*$/.test(padding)) return end;
  const expected = (4 - (significant % 4)) % 4;
  if (expected === 3) return end;
  if (padding.length === expected) return -1;
  return padding.length < expected ? text.length : end + expected;
}

function listDecoder(item: Decode, zero: unknown, goType: string): Decode {
  return (value, state) => {
    if (!Array.isArray(value)) throw mismatch(value, goType, state);
    const out: unknown[] = new Array(value.length);
    for (let i = 0; i < value.length; i++) {
      const element: unknown = value[i];
      out[i] = element === null ? zero : item(element, state);
    }
    return out;
  };
}

function mapDecoder(item: Decode, zero: unknown, goType: string): Decode {
  return (value, state) => {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) {
      throw mismatch(value, goType, state);
    }
    const out: Record<string, unknown> = {};
    for (const key of Object.keys(value).sort()) {
      const element = (value as Record<string, unknown>)[key];
      const decoded = element === null ? zero : item(element, state);
      if (key === '__proto__') Object.defineProperty(out, key, { value: decoded, enumerable: true });
      else out[key] = decoded;
    }
    return out;
  };
}

function zeroOf(schema: OpenAPISchema): unknown {
  if (referenceOf(schema)) return {};
  switch (schema.type) {
    case 'string':
      return '';
    case 'integer':
    case 'number':
      return 0;
    case 'boolean':
      return false;
    default:
      return null;
  }
}

function compileStruct(schemaName: string, schema: OpenAPISchema): Decode {
  const goType = goName(schemaName);
  if (!schema.properties) return schema.type === 'object' ? anyObject(goType) : compile({ ...schema });
  const struct = shortName(schemaName);
  const fields = orderedFields(schemaName, schema).map(([name, s]) => fieldOf(struct, name, s, schema));
  return (value, state) => {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) {
      throw mismatch(value, goType, state);
    }
    const source = value as Record<string, unknown>;
    const out: Record<string, unknown> = {};
    const outer = state.struct;
    let known = 0;
    for (const field of fields) {
      const given = source[field.name];
      if (given !== undefined) known++;
      if (given === undefined || given === null) {
        const filler = field.missing();
        if (filler !== undefined) out[field.name] = filler;
        continue;
      }
      state.struct = struct;
      state.path.push(field.name);
      const decoded = field.decode(given, state);
      state.path.pop();
      if (!field.omits(decoded)) out[field.name] = decoded;
      else if (field.emptyIsNull) out[field.name] = null;
    }
    state.struct = outer;
    if (!state.sawUnknown && known !== Object.keys(source).length) state.sawUnknown = true;
    return out;
  };
}

/** Fields in the order in which upstream writes them: kind and apiVersion first, then by protobuf number. */
function orderedFields(schemaName: string, schema: OpenAPISchema): [string, OpenAPISchema][] {
  const numbers = loadProtobufFields()[schemaName.replace(/^io\.k8s\./, 'k8s.io.')] ?? {};
  const rank = (name: string) =>
    name === 'kind' ? -2 : name === 'apiVersion' ? -1 : (numbers[name]?.[0] ?? 1000);
  return Object.entries(schema.properties ?? {}).sort(([a], [b]) => rank(a) - rank(b));
}

function fieldOf(struct: string, name: string, schema: OpenAPISchema, owner: OpenAPISchema): Field {
  const field = `${struct}.${name}`;
  const required = owner.required?.includes(name) ?? false;
  const isStruct = referenceOf(schema) !== undefined && !scalarDecoders[shortName(referenceOf(schema) ?? '')];
  const kind = owner['x-kubernetes-group-version-kind'] !== undefined;
  const always =
    isStruct &&
    (name === 'metadata' ||
      alwaysStructs.has(field) ||
      (kind && (name === 'spec' || name === 'status') && !pointerStructs.has(field)));
  const decode = compile(schema);
  return {
    name,
    decode,
    omits: omitRule(field, schema, required),
    emptyIsNull: nullLists.has(field),
    missing: always ? emptyStruct(decode) : constant(missingValue(field, schema, required)),
  };
}

const constant = (value: unknown) => (): unknown => value;

/** The struct without anything in it, with the structs that it always has; made once and shared. */
function emptyStruct(decode: Decode): () => unknown {
  let empty: unknown;
  return () => (empty ??= deepFreeze(decode({}, { struct: '', path: [], sawUnknown: false })));
}

function missingValue(field: string, schema: OpenAPISchema, required: boolean): unknown {
  if (nullLists.has(field) || nullTimes.has(field)) return null;
  if (omittedZeros.has(field)) return undefined;
  // A static default, if only a zero, is there because upstream always writes the field.
  if (schema.default !== undefined) return schema.default;
  if (!required) return undefined;
  return schema.type === 'string' || schema.type === 'integer' || schema.type === 'boolean'
    ? zeroOf(schema)
    : undefined;
}

const never = () => false;

function omitRule(field: string, schema: OpenAPISchema, required: boolean): (value: unknown) => boolean {
  const omitsZero = omittedZeros.has(field);
  if (nullLists.has(field)) return (value) => (value as unknown[]).length === 0;
  if (required || (schema.default !== undefined && !omitsZero)) return never;
  if (schema.type === 'array') return (value) => (value as unknown[]).length === 0;
  if (schema.type === 'object' && schema.additionalProperties) {
    return (value) => Object.keys(value as object).length === 0;
  }
  if (schema.type === 'string') return pointerStrings.has(field) ? never : (value) => value === '';
  if (omitsZero) return (value) => value === 0 || value === false;
  return never;
}

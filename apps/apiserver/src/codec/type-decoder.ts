import { loadSchemas, type OpenAPISchema } from '@tinkernetes/api';
import { deepFreeze } from '@tinkernetes/apimachinery';
import { pathOfField } from './embedded-structs';
import { scalarDecoders, zeroScalars } from './scalar-decoders';
import { isLargeStruct, remembering } from './remembered-structs';
import { StructMembers } from './struct-members';
import { mismatch, type Decode, type DecodeState } from './decode-state';
import { goName, goTypeOf, referenceOf, shortName } from './schema-names';
import { anyObject, bytesDecoder, integerDecoder, listDecoder, mapDecoder, typed } from './value-decoders';
import { namedType, nullLists, orderedFields, type GoField } from './go-fields';

interface Field {
  name: string;
  decode: Decode;
  /** Whether an empty decoded value is left out. */
  omits(value: unknown): boolean;
  /** A list or map that is written as null when it is empty. */
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

function compile(schema: OpenAPISchema): Decode {
  const ref = referenceOf(schema);
  if (ref) return decoderOf(ref);
  const goType = goTypeOf(schema);
  switch (schema.type) {
    case 'array':
      return elements(listDecoder, schema.items ?? {}, goType);
    case 'object':
      return schema.additionalProperties
        ? elements(mapDecoder, schema.additionalProperties, goType)
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

/** A list or map; null in it stands for the zero value of what it holds. */
function elements(decoder: typeof listDecoder, schema: OpenAPISchema, goType: string): Decode {
  const decode = compile(schema);
  const ref = referenceOf(schema);
  const isStruct = ref !== undefined && !(shortName(ref) in zeroScalars);
  return decoder(decode, isStruct ? emptyStruct(decode) : constant(zeroOf(schema)), goType);
}

function zeroOf(schema: OpenAPISchema): unknown {
  const ref = referenceOf(schema);
  if (ref) return zeroScalars[shortName(ref)] ?? null;
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
  const fields = orderedFields(schemaName, schema).map(([name, property, go], rank) => ({
    rank,
    path: pathOfField(struct, name),
    ...fieldOf({ struct, name }, property, { ...go, mayBeNull: nullLists.has(`${struct}.${name}`) }),
  }));
  const byName = new Map(fields.map((field) => [field.name, field]));
  let filled: typeof fields | undefined;
  const decode = (value: unknown, state: DecodeState): Record<string, unknown> => {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) {
      throw mismatch(value, goType, state);
    }
    const source = value as Record<string, unknown>;
    const outer = state.struct;
    state.struct = struct;
    const members = new StructMembers();
    for (const name of Object.keys(source)) {
      const given = source[name];
      const field = byName.get(name);
      if (!field && given !== undefined) state.sawUnknown = true;
      if (!field || given === undefined || given === null) {
        members.drop();
        continue;
      }
      state.path.push(field.path);
      const decoded = field.decode(given, state);
      state.path.pop();
      state.struct = struct;
      if (!field.omits(decoded) || (field.emptyIsNull && state.keepsEmpty))
        members.add(field, decoded, decoded === given);
      else if (field.emptyIsNull) members.add(field, null, false);
      else members.drop();
    }
    state.struct = outer;
    filled ??= fields.filter((field) => field.missing() !== undefined);
    for (const field of filled) {
      const given = source[field.name];
      if (given === undefined || given === null) members.add(field, field.missing(), false);
    }
    return members.toObject(source);
  };
  return isLargeStruct(struct) ? remembering(decode) : decode;
}

function fieldOf(
  { struct, name }: { struct: string; name: string },
  schema: OpenAPISchema,
  go: GoField,
): Field {
  const named = schema.type === 'string' ? namedType(struct, name) : undefined;
  const decode = named ? typed('string', named) : compile(schema);
  return {
    name,
    decode,
    omits: omitRule(go),
    emptyIsNull: go.mayBeNull ?? false,
    missing: missingRule(schema, go, decode),
  };
}

const constant = (value: unknown) => (): unknown => value;

/** The struct without anything in it, with the structs that it always has; made once and shared. */
function emptyStruct(decode: Decode): () => unknown {
  let empty: unknown;
  return () => (empty ??= deepFreeze(decode({}, { struct: '', path: [], sawUnknown: false })));
}

function missingRule(schema: OpenAPISchema, go: GoField, decode: Decode): () => unknown {
  const { default: standard } = schema;
  if (go.type === 't' && !go.pointer) {
    // omitempty means nothing to a struct.
    if (go.omitzero) return constant(undefined);
    const scalar = shortName(referenceOf(schema) ?? '');
    return scalar in zeroScalars ? constant(zeroScalars[scalar]) : emptyStruct(decode);
  }
  // Zero defaults only say that the field is always written.
  if (standard !== undefined && (go.pointer || standard)) return constant(standard);
  if (go.omitempty) return constant(undefined);
  if (!go.pointer && 'sbn'.includes(go.type)) return constant(zeroOf(schema));
  return constant(go.type === 'l' && !go.mayBeNull ? noElements : null);
}

const never = () => false;

const noElements = deepFreeze<unknown[]>([]);

/** Whether a value that was given is written all the same. */
function omitRule({ pointer, type, omitempty, mayBeNull }: GoField): (value: unknown) => boolean {
  if (pointer || (type === 'l' && !omitempty && !mayBeNull)) return never;
  switch (type) {
    case 'l':
      return (value) => (value as unknown[]).length === 0;
    case 'm':
      return (value) => Object.keys(value as object).length === 0;
    case 's':
    case 'y':
      return omitempty ? (value) => value === '' : never;
    case 'b':
    case 'n':
      return omitempty ? (value) => value === 0 || value === false : never;
    default:
      return never;
  }
}

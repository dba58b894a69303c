import { loadGoFields, loadSchemas, type OpenAPISchema } from '@tinkernetes/api';
import { deepFreeze } from '@tinkernetes/apimachinery';
import { pathOfField } from './embedded-structs';
import { scalarDecoders, zeroScalars } from './scalar-decoders';
import { isLargeStruct, remembering } from './remembered-structs';
import { StructMembers } from './struct-members';

/** Where the decoder is, for messages. */
export interface DecodeState {
  /** Go struct that holds the current field: `PodSpec`. */
  struct: string;
  /** The fields on the way, without list indices, as encoding/json reports them. */
  readonly path: string[];
  /** Set when a field without a place in the type was seen. */
  sawUnknown: boolean;
  /** Whether lists that are stored as null when they are empty stay lists: requests own them. */
  readonly keepsEmpty?: boolean;
}
export type Decode = (value: unknown, state: DecodeState) => unknown;

/** The JSON value does not fit the type; the message is worded as Go's encoding/json words it. */
export class TypeMismatchError extends Error {
  override readonly name = 'TypeMismatchError';

  constructor(
    message: string,
    private readonly misfit?: { readonly value: unknown; readonly goType: string },
  ) {
    super(message);
  }

  /** The same error as seen from a field further out, whose type decodes itself. */
  at(state: DecodeState): TypeMismatchError {
    return this.misfit ? mismatch(this.misfit.value, this.misfit.goType, state) : this;
  }
}

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
  return new TypeMismatchError(`json: cannot unmarshal ${what} into ${place}`, { value, goType });
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
  const problem = base64Problem(value);
  if (problem) throw new TypeMismatchError(problem);
  return value;
};

/** What Go's decoder says of text that is not standard base64. */
export function base64Problem(text: string): string | undefined {
  const at = illegalBase64(text);
  return at >= 0 ? `illegal base64 data at input byte ${at}` : undefined;
}

/** Index of the first byte that standard base64 can't have there, -1 if none. */
function illegalBase64(text: string): number {
  const match = /^[A-Za-z0-9+/\r\n]*/.exec(text);
  const end = match?.[0].length ?? 0;
  const significant = text.slice(0, end).replace(/[\r\n]/g, '').length;
  const padding = text.slice(end);
  if (!/^=*$/.test(padding)) return end;
  // Nothing where padding should be: Go names the beginning of the group that is not whole.
  if (padding === '' && significant % 4 !== 0) return text.length - (significant % 4);
  const expected = (4 - (significant % 4)) % 4;
  if (expected === 3) return end;
  if (padding.length === expected) return -1;
  return padding.length < expected ? text.length : end + expected;
}

function listDecoder(item: Decode, zero: () => unknown, goType: string): Decode {
  return (value, state) => {
    if (!Array.isArray(value)) throw mismatch(value, goType, state);
    let isAsGiven = true;
    const out: unknown[] = new Array(value.length);
    for (let i = 0; i < value.length; i++) {
      const element: unknown = value[i];
      out[i] = element === null ? zero() : item(element, state);
      if (out[i] !== element) isAsGiven = false;
    }
    return isAsGiven ? value : out;
  };
}

function mapDecoder(item: Decode, zero: () => unknown, goType: string): Decode {
  return (value, state) => {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) {
      throw mismatch(value, goType, state);
    }
    const given = value as Record<string, unknown>;
    const names = Object.keys(given);
    let isAsGiven = true;
    for (let i = 1; i < names.length; i++) if ((names[i] ?? '') < (names[i - 1] ?? '')) isAsGiven = false;
    if (!isAsGiven) names.sort();
    const out: Record<string, unknown> = {};
    for (const key of names) {
      const element = given[key];
      const decoded = element === null ? zero() : item(element, state);
      if (decoded !== element) isAsGiven = false;
      if (key === '__proto__') Object.defineProperty(out, key, { value: decoded, enumerable: true });
      else out[key] = decoded;
    }
    return isAsGiven ? given : out;
  };
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

/** How Go declares a field. */
interface GoField {
  readonly pointer: boolean;
  /** `s` string, `b` bool, `n` number, `t` struct, `l` list, `m` map, `y` bytes, `i` interface. */
  readonly type: string;
  readonly omitempty: boolean;
  readonly omitzero: boolean;
  /** A list that validation lets be empty: null is written then, as what is stored as protobuf doesn't know an empty one. */
  readonly mayBeNull?: boolean;
}

/** Lists without omitempty that may be empty. All others are refused when they are. */
const nullLists: ReadonlySet<string> = new Set([
  'AllocatedDeviceStatus.conditions',
  'ClusterRole.rules',
  'ContainerImage.names',
  'CSINodeDriver.topologyKeys',
  'CSINodeSpec.drivers',
  'CustomResourceDefinitionStatus.conditions',
  'CustomResourceDefinitionStatus.storedVersions',
  'DeviceClaim.requests',
  'EndpointSlice.endpoints',
  'EndpointSlice.ports',
  'HorizontalPodAutoscalerStatus.currentMetrics',
  'LimitRangeSpec.limits',
  'PodFailurePolicy.rules',
  'ProjectedVolumeSource.sources',
  'ResourcePolicyRule.namespaces',
  'Role.rules',
]);

/** Fields in the order in which Go declares, and so writes, them. */
function orderedFields(schemaName: string, schema: OpenAPISchema): [string, OpenAPISchema, GoField][] {
  const properties = schema.properties ?? {};
  const declared = (loadGoFields()[schemaName] ?? '').split(' ').filter(Boolean);
  return declared.flatMap((text) => {
    const [name = '', code = ''] = text.split(':');
    const property = properties[name];
    return property ? [[name, property, goField(code)] as [string, OpenAPISchema, GoField]] : [];
  });
}

/** Names of a type's fields as Go declares them. */
export const fieldNames = (schemaName: string): string[] =>
  orderedFields(schemaName, loadSchemas()[schemaName] ?? {}).map(([name]) => name);

const goField = (code: string): GoField => ({
  pointer: code.startsWith('*'),
  type: code.replace('*', '').charAt(0),
  omitempty: code.includes('e'),
  omitzero: code.includes('z'),
});

/** Users' identities are plain text, objects' are not. */
const userStructs: ReadonlySet<string> = new Set([
  'CertificateSigningRequestSpec',
  'SubjectAccessReviewSpec',
  'UserInfo',
]);

/** The Go type of a text field, where messages name another than string. */
function namedType(struct: string, field: string): string | undefined {
  if (field === 'uid') return userStructs.has(struct) ? undefined : 'types.UID';
  return field === 'propagationPolicy' ? 'v1.DeletionPropagation' : undefined;
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

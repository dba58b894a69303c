import { loadGoFields, loadProtobufFields, loadSchemas } from '@tinkernetes/api';

/** How one field of a message is written, and where its value is in the JSON form. */
export interface FieldType {
  readonly number: number;
  /** Name in the JSON form. */
  readonly jsonName: string;
  readonly scalar?: ScalarName;
  /** Full name of the message, where it is one. */
  readonly message?: string;
  readonly repeated: boolean;
  /** `map<string, …>`: scalar and message are of the value. */
  readonly map: boolean;
  /** An embedded Go struct: its fields are the parent's in the JSON form. */
  readonly inline: boolean;
  /** A Go pointer: zero means something. Go writes other fields even when they are zero, and JSON leaves these out again. */
  readonly pointer: boolean;
}
export interface MessageType {
  readonly name: string;
  readonly fields: readonly FieldType[];
  readonly byNumber: ReadonlyMap<number, FieldType>;
}

const scalars = ['string', 'bool', 'int32', 'int64', 'uint32', 'uint64', 'double', 'float', 'bytes'] as const;
export type ScalarName = (typeof scalars)[number];
const isScalar = (type: string): type is ScalarName => (scalars as readonly string[]).includes(type);

const built = new Map<string, MessageType | undefined>();

/** The message of that full name, e.g. `k8s.io.api.core.v1.Pod`; undefined: no such message. */
export function messageType(name: string): MessageType | undefined {
  if (!built.has(name)) built.set(name, build(name));
  return built.get(name);
}

function build(name: string): MessageType | undefined {
  const facts = loadProtobufFields()[name];
  if (!facts) return undefined;
  const properties = loadSchemas()[schemaName(name)]?.properties;
  const jsonNames = new Map(Object.keys(properties ?? {}).map((key) => [normalized(key), key]));
  const pointers = pointersOf(schemaName(name));
  const fields = Object.entries(facts).map(([protoName, [number, type]]) => {
    const jsonName = jsonNames.get(normalized(protoName));
    const shape = shapeOf(type, name);
    return {
      number,
      jsonName: jsonName ?? protoName,
      ...shape,
      inline: properties !== undefined && jsonName === undefined && shape.message !== undefined,
      pointer: pointers.has(jsonName ?? protoName),
    };
  });
  // Go writes a message's fields in the order of their numbers.
  fields.sort((a, b) => a.number - b.number);
  return { name, fields, byNumber: new Map(fields.map((f) => [f.number, f])) };
}

/** JSON names of a struct's pointers. */
function pointersOf(schema: string): ReadonlySet<string> {
  const declared = (loadGoFields()[schema] ?? '').split(' ').map((text) => text.split(':'));
  return new Set(declared.flatMap(([field = '', code = '']) => (code.startsWith('*') ? [field] : [])));
}

function shapeOf(type: string, scope: string): Pick<FieldType, 'scalar' | 'message' | 'repeated' | 'map'> {
  const map = /^map<\s*string\s*,\s*(.+)>$/.exec(type);
  const repeated = /^repeated (.+)$/.exec(type);
  const element = (map?.[1] ?? repeated?.[1] ?? type).trim();
  const flags = { repeated: repeated !== null, map: map !== null };
  if (isScalar(element)) return { scalar: element, ...flags };
  const message = element.startsWith('.')
    ? element.slice(1)
    : `${scope.slice(0, scope.lastIndexOf('.'))}.${element}`;
  return { message, ...flags };
}

const schemaName = (message: string): string =>
  message
    .replace(/^k8s\.io\./, 'io.k8s.')
    .replace('_apiserver', '-apiserver')
    .replace('_aggregator', '-aggregator');

/** Protobuf can't write `$ref` or `x-kubernetes-…`: names are compared by their letters and digits. */
const normalized = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

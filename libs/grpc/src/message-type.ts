import { find, resolve, type FieldFacts, type Namespace } from './descriptor';

const scalars = ['string', 'bytes', 'bool', 'int32', 'uint32', 'int64', 'uint64', 'double'] as const;
export type Scalar = (typeof scalars)[number];

export interface Enumeration {
  readonly numbers: ReadonlyMap<unknown, number>;
  readonly names: ReadonlyMap<number, string>;
}
export interface MessageType {
  readonly name: string;
  /** In the order of their numbers. */
  readonly fields: readonly Field[];
  readonly byNumber: ReadonlyMap<number, Field>;
}
interface FieldBase {
  readonly name: string;
  readonly number: number;
  readonly isRepeated: boolean;
  /** The oneof that it is a member of. */
  readonly oneof: string | undefined;
}
/** A map is a list of entries with a key and a value. */
export type Field =
  | (FieldBase & { readonly kind: Scalar })
  | (FieldBase & { readonly kind: 'enum'; readonly enumeration: Enumeration })
  | (FieldBase & { readonly kind: 'message' | 'map'; readonly message: () => MessageType });

/** The messages of a descriptor by their full names; each is looked at when it is first needed. */
export function messageTypes(descriptor: Namespace): (name: string) => MessageType {
  const known = new Map<string, MessageType>();
  const typeOf = (name: string): MessageType => {
    let type = known.get(name);
    if (!type) known.set(name, (type = readType(name)));
    return type;
  };
  return typeOf;

  function readType(name: string): MessageType {
    const found = find(descriptor, name);
    if (!found?.fields) throw new Error(`the descriptor has no message ${name}`);
    const oneofOf = (field: string) =>
      Object.entries(found.oneofs ?? {}).find(([, { oneof }]) => oneof.includes(field))?.[0];
    return typeWith(
      name,
      Object.entries(found.fields).map(([field, facts]) => ({
        ...meaningOf(facts, name),
        name: field,
        number: facts.id,
        isRepeated: facts.rule === 'repeated',
        oneof: oneofOf(field),
      })),
    );
  }

  function meaningOf({ type, keyType }: FieldFacts, scope: string) {
    if (keyType !== undefined) {
      const entry = entryType(keyType, type, scope);
      return { kind: 'map' as const, message: () => entry };
    }
    const scalar = scalars.find((name) => name === type);
    if (scalar) return { kind: scalar };
    const { name, found } = resolve(descriptor, type, scope);
    if (!found.values) return { kind: 'message' as const, message: () => typeOf(name) };
    const values = Object.entries(found.values);
    const enumeration: Enumeration = {
      numbers: new Map(values),
      names: new Map(values.map(([text, number]) => [number, text])),
    };
    return { kind: 'enum' as const, enumeration };
  }

  function entryType(keyType: string, valueType: string, scope: string): MessageType {
    const plain = { isRepeated: false, oneof: undefined };
    return typeWith(`${scope}.Entry`, [
      { ...meaningOf({ type: keyType, id: 1 }, scope), ...plain, name: 'key', number: 1 },
      { ...meaningOf({ type: valueType, id: 2 }, scope), ...plain, name: 'value', number: 2 },
    ]);
  }
}

function typeWith(name: string, fields: Field[]): MessageType {
  fields.sort((a, b) => a.number - b.number);
  return { name, fields, byNumber: new Map(fields.map((field) => [field.number, field])) };
}

import {
  bool,
  bytes,
  double,
  duration,
  dyn,
  int,
  listOf,
  mapOf,
  string,
  structOf,
  timestamp,
  type CelType,
} from './check/cel-type';

/** What types are told by of an OpenAPI v3 schema. */
export interface TypeSchema {
  readonly type?: string;
  readonly format?: string;
  readonly $ref?: string;
  readonly allOf?: readonly TypeSchema[];
  readonly items?: TypeSchema;
  readonly properties?: Readonly<Record<string, TypeSchema>>;
  readonly additionalProperties?: TypeSchema | boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
}

const text: TypeSchema = { type: 'string' };
/** What every object has, and what may be seen of the metadata of one whose schema doesn't say it. */
const resourceFields: Readonly<Record<string, TypeSchema>> = {
  apiVersion: text,
  kind: text,
  metadata: { type: 'object', properties: { name: text, generateName: text } },
};

/**
 * The type of an API object by its schema; undefined where the schema tells none. References are looked up in `schemas`
 * by their last part. Source: k8s.io/apiserver/pkg/cel/common (SchemaDeclType).
 */
export function resourceType(
  name: string,
  schema: TypeSchema,
  schemas: Readonly<Record<string, TypeSchema>>,
): CelType | undefined {
  return new TypeReader(schemas).read(schema, name, true);
}

class TypeReader {
  /** References on the way: a type that contains itself is known no further. */
  private readonly open = new Set<string>();

  constructor(private readonly schemas: Readonly<Record<string, TypeSchema>>) {}

  read(schema: TypeSchema, name: string, isResource = false): CelType | undefined {
    const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
    if (reference !== undefined) return this.referenced(reference, name, isResource);
    if (schema['x-kubernetes-int-or-string'] || schema.format === 'int-or-string') return dyn;
    if (schema['x-kubernetes-preserve-unknown-fields'] && !isResource) return dyn;
    switch (isResource ? 'object' : schema.type) {
      case 'array':
        return this.list(schema, name);
      case 'object':
        return this.object(schema, name, isResource);
      case 'string':
        return stringType(schema.format);
      case 'integer':
        return int;
      case 'number':
        return double;
      case 'boolean':
        return bool;
      default:
        return undefined;
    }
  }

  private referenced(reference: string, name: string, isResource: boolean): CelType | undefined {
    const target = this.schemas[reference.slice(reference.lastIndexOf('/') + 1)];
    if (!target || this.open.has(reference)) return undefined;
    this.open.add(reference);
    const type = this.read(target, name, isResource);
    this.open.delete(reference);
    return type;
  }

  private list({ items }: TypeSchema, name: string): CelType | undefined {
    const element = items && this.read(items, `${name}.@idx`);
    return element && listOf(element);
  }

  private object(schema: TypeSchema, name: string, isResource: boolean): CelType | undefined {
    const { properties = {}, additionalProperties } = schema;
    if (additionalProperties === true) return dyn;
    if (typeof additionalProperties === 'object') {
      const value = this.read(additionalProperties, `${name}.@elem`);
      return value && mapOf(string, value);
    }
    const all = isResource ? { ...resourceFields, ...properties } : properties;
    const fields: Record<string, CelType> = {};
    for (const [key, property] of Object.entries(all)) {
      const type = this.read(property, `${name}.${key}`, property['x-kubernetes-embedded-resource'] === true);
      if (type) fields[escapedName(key)] = type;
    }
    return structOf(name, fields);
  }
}

function stringType(format: string | undefined): CelType {
  switch (format) {
    case 'byte':
      return bytes;
    case 'date':
    case 'date-time':
      return timestamp;
    case 'duration':
      return duration;
    default:
      return string;
  }
}

const reserved: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);
const escapes: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};

/** A field's name as expressions write it. Source: k8s.io/apiserver/pkg/cel/escaping.go. */
export const escapedName = (name: string): string =>
  reserved.has(name) ? `__${name}__` : name.replace(/__|[./-]/g, (found) => escapes[found] ?? found);

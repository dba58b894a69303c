import { loadSchemas, type OpenAPISchema } from '@tinkernetes/api';
import { isObject } from '@tinkernetes/apimachinery';
import { scalarDecoders } from './scalar-decoders';
import { base64Problem } from './base64-problem';
import { fieldNames } from './go-fields';
import { referenceOf, shortName } from './schema-names';
import { TypeMismatchError } from './decode-state';

/**
 * Why a map of values is no object of a type, as the converter words it that turns strategically patched maps into
 * objects; undefined where nothing is wrong. Source: k8s.io/apimachinery/pkg/runtime/converter.go.
 */
export const unstructuredProblem = (value: unknown, schemaName: string): string | undefined =>
  problemIn(value, { $ref: `#/${schemaName}` });

function problemIn(value: unknown, schema: OpenAPISchema): string | undefined {
  if (value === null || value === undefined) return undefined;
  const reference = referenceOf(schema);
  if (reference) return problemInType(value, reference);
  switch (schema.type) {
    case 'array':
      if (!Array.isArray(value)) return `cannot restore slice from ${kindOf(value)}`;
      return first(value, (item) => problemIn(item, schema.items ?? {}));
    case 'object':
      if (!isObject(value)) return `cannot restore map from ${kindOf(value)}`;
      return first(Object.values(value), (item) => problemIn(item, schema.additionalProperties ?? {}));
    case 'string':
      return schema.format === 'byte' ? problemInBytes(value) : problemInScalar(value, 'string');
    case 'integer':
      return problemInScalar(value, schema.format ?? 'int64');
    case 'number':
      return problemInScalar(value, 'float64');
    case 'boolean':
      return problemInScalar(value, 'bool');
    case undefined:
      return undefined;
  }
}

function problemInType(value: unknown, schemaName: string): string | undefined {
  const scalar = scalarDecoders[shortName(schemaName)];
  if (scalar) return scalarProblem(() => scalar(value, { struct: '', path: [], sawUnknown: false }));
  const schema = loadSchemas()[schemaName];
  const properties = schema?.properties;
  if (!properties) return problemIn(value, schema ?? {});
  if (!isObject(value)) return `cannot restore struct from: ${kindOf(value)}`;
  return first(fieldNames(schemaName), (name) =>
    Object.hasOwn(value, name) ? problemIn(value[name], properties[name] ?? {}) : undefined,
  );
}

function problemInBytes(value: unknown): string | undefined {
  if (typeof value !== 'string') return `cannot restore slice from ${kindOf(value)}`;
  const problem = base64Problem(value);
  return problem && `error decoding from json: ${problem}`;
}

function problemInScalar(value: unknown, goType: string): string | undefined {
  const kind = kindOf(value);
  const [isNumber, wantsNumber] = [typeof value === 'number', /^(int|float)/.test(goType)];
  if (kind === goType || (isNumber && goType === 'float64')) return undefined;
  if (isNumber && wantsNumber) return kind === 'int64' ? undefined : `cannot convert ${kind} to ${goType}`;
  // Go takes a whole number for a character.
  return kind === 'int64' && goType === 'string'
    ? `cannot convert ${kind} to ${goType}`
    : `unrecognized type: ${goType}`;
}

function scalarProblem(decode: () => unknown): string | undefined {
  try {
    decode();
    return undefined;
  } catch (error) {
    if (error instanceof TypeMismatchError) return error.message;
    throw error;
  }
}

/** reflect.Kind of a value. */
function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'slice';
  if (isObject(value)) return 'map';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

function first<T>(items: readonly T[], problem: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = problem(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

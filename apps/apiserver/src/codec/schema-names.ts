import type { OpenAPISchema } from '@tinkernetes/api';

/** `Container` of `io.k8s.api.core.v1.Container`. */
export const shortName = (schemaName: string): string => schemaName.slice(schemaName.lastIndexOf('.') + 1);

/** `v1.Container`: how Go prints the type. */
export function goName(schemaName: string): string {
  const parts = schemaName.split('.');
  return parts.slice(-2).join('.');
}

export function referenceOf(schema: OpenAPISchema): string | undefined {
  const ref = schema.$ref ?? schema.allOf?.[0]?.$ref;
  return ref?.slice(2);
}

/** The Go type that a schema stands for, as error messages name it. */
export function goTypeOf(schema: OpenAPISchema): string {
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

import { loadSchemas, type OpenAPISchema } from '@tinkernetes/api';
import { referenceOf, shortName } from './schema-names';
import { scalarDecoders } from './scalar-decoders';

/** `unknown field "spec.containers[0].imagee"` for each field without a place in the type, in document order. */
export function unknownFields(value: unknown, schemaName: string): string[] {
  const out: string[] = [];
  visit(value, { $ref: `#/${schemaName}` }, '', out);
  return out;
}

function visit(value: unknown, schema: OpenAPISchema, path: string, out: string[]): void {
  if (value === null || typeof value !== 'object') return;
  const ref = referenceOf(schema);
  if (ref) {
    const target = loadSchemas()[ref];
    if (!target || scalarDecoders[shortName(ref)]) return;
    visit(value, target, path, out);
    return;
  }
  if (Array.isArray(value)) {
    value.forEach((item, i) => visit(item, schema.items ?? {}, `${path}[${i}]`, out));
    return;
  }
  for (const [key, inner] of Object.entries(value)) {
    const at = path ? `${path}.${key}` : key;
    const property =
      schema.properties && Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
    if (property) visit(inner, property, at, out);
    else if (schema.additionalProperties) visit(inner, schema.additionalProperties, at, out);
    else if (schema.properties) out.push(`unknown field "${at}"`);
  }
}

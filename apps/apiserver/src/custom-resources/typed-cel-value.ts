import { isObject } from '@tinkernetes/apimachinery';
import { bytesValue, durationValue, escapedName, timestampValue, toCelValue } from '@tinkernetes/cel';
import { itemsOf, propertyOf, valuesOf, type Schema } from './structural-schema';

/**
 * A value as rules compute with it: of the types that its schema gives. Source: k8s.io/apiserver/pkg/cel/common
 * (UnstructuredToVal).
 */
export function typedCelValue(value: unknown, schema: Schema, isResource = false): unknown {
  if (value === null || value === undefined) return null;
  if (schema['x-kubernetes-int-or-string']) return toCelValue(value);
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    return items ? value.map((item) => typedCelValue(item, items, isEmbedded(items))) : toCelValue(value);
  }
  if (isObject(value)) return typedObject(value, schema, isResource);
  if (typeof value === 'number') return schema.type === 'number' ? value : toCelValue(value);
  return typeof value === 'string' ? typedText(value, schema) : value;
}

const isEmbedded = (schema: Schema): boolean => schema['x-kubernetes-embedded-resource'] === true;

function typedObject(value: Record<string, unknown>, schema: Schema, isResource: boolean): unknown {
  const values = isObject(schema.additionalProperties) ? valuesOf(schema) : undefined;
  if (!values && !schema.properties && schema['x-kubernetes-preserve-unknown-fields'] && !isResource) {
    return toCelValue(value);
  }
  const out = new Map<string, unknown>();
  for (const [key, inner] of Object.entries(value)) {
    const property = propertyOf(schema, key);
    if (property) out.set(escapedName(key), typedCelValue(inner, property, isEmbedded(property)));
    else if (values) out.set(key, typedCelValue(inner, values, isEmbedded(values)));
    else if (isResource && isResourceField(key)) out.set(key, key === 'metadata' ? names(inner) : inner);
  }
  return out;
}

const isResourceField = (key: string): boolean => ['apiVersion', 'kind', 'metadata'].includes(key);

/** All that rules see of metadata. */
function names(metadata: unknown): unknown {
  const out = new Map<string, unknown>();
  if (!isObject(metadata)) return out;
  for (const key of ['name', 'generateName']) {
    if (typeof metadata[key] === 'string' && metadata[key] !== '') out.set(key, metadata[key]);
  }
  return out;
}

function typedText(value: string, { format }: Schema): unknown {
  switch (format) {
    case 'byte':
      return bytesValue(value);
    case 'date':
    case 'date-time':
      return timestampValue(value);
    case 'duration':
      return durationValue(value);
    default:
      return value;
  }
}

import { invalid, isObject } from '@tinkernetes/apimachinery';
import type { FieldError } from '../contracts';
import { decoderOf } from '../codec/type-decoder';
import { jsonTypeOf, TypeMismatchError } from '../codec/decode-state';
import { unknownFields } from '../codec/strict-errors';
import { itemsOf, propertyOf, valuesOf, type Schema } from './structural-schema';

const metaSchema = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const typeFields = ['apiVersion', 'kind', 'metadata'];

/**
 * The value without what its schema does not name; paths of what was dropped are added to `unknown`. Source:
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#field-pruning
 */
export function prune(value: unknown, schema: Schema, path: string, unknown: string[]): unknown {
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    return items ? value.map((item, i) => prune(item, items, `${path}[${i}]`, unknown)) : value;
  }
  if (!isObject(value)) return value;
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const values = valuesOf(schema);
  const out: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) {
    const at = path ? `${path}.${key}` : key;
    if (embedded && typeFields.includes(key)) {
      put(out, key, key === 'metadata' ? embeddedMetadata(inner, at, unknown) : embeddedText(inner, at));
      continue;
    }
    const property = propertyOf(schema, key) ?? values;
    if (property) put(out, key, prune(inner, property, at, unknown));
    else if (schema['x-kubernetes-preserve-unknown-fields']) put(out, key, inner);
    else unknown.push(`unknown field "${at}"`);
  }
  return out;
}

/** Metadata has the same fields in every object. */
export function pruneMetadata(value: unknown, path: string, unknown: string[]): unknown {
  if (!isObject(value)) return value;
  const state = { struct: 'ObjectMeta', path: ['metadata'], sawUnknown: false };
  const metadata = decoderOf(metaSchema)(value, state);
  if (state.sawUnknown) {
    for (const message of unknownFields(value, metaSchema)) unknown.push(message.replace('"', `"${path}.`));
  }
  return metadata;
}

/** Of an object within another. Source: apiextensions-apiserver/pkg/apiserver/schema/objectmeta.Coerce. */
function embeddedMetadata(value: unknown, path: string, unknown: string[]): unknown {
  const fail = (reason: string) => new TypeMismatchError(problem(invalid(path, value, reason)));
  if (!isObject(value)) {
    const type = value === null ? undefined : jsonTypeOf(value);
    if (type !== undefined) throw fail(`json: cannot unmarshal ${type} into Go value of type v1.ObjectMeta`);
  }
  try {
    return pruneMetadata(value, path, unknown);
  } catch (error) {
    if (error instanceof TypeMismatchError) throw fail(error.message);
    throw error;
  }
}

function embeddedText(value: unknown, path: string): unknown {
  if (typeof value === 'string') return value;
  throw new TypeMismatchError(problem(invalid(path, value, 'must be a string')));
}

const problem = ({ field, message }: FieldError): string => `${field}: ${message}`;

function put(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else object[key] = value;
}

import type { ObjectMeta } from '@tinkernetes/api';
import {
  child,
  index,
  invalid,
  isDns1035Label,
  isObject,
  isPathSegmentName,
  mapKey,
  required,
  validateObjectMeta,
} from '@tinkernetes/apimachinery';
import type { FieldError } from '../contracts';
import { itemsOf, propertyOf, valuesOf, type Schema } from './structural-schema';

/**
 * What is wrong with apiVersion, kind and metadata of objects within a custom resource. Source:
 * apiextensions-apiserver/pkg/apiserver/schema/objectmeta/validation.go.
 */
export function embeddedObjectErrors(value: unknown, schema: Schema, path: string): FieldError[] {
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    return items ? value.flatMap((item, i) => embeddedObjectErrors(item, items, index(path, i))) : [];
  }
  if (!isObject(value)) return [];
  const errors = schema['x-kubernetes-embedded-resource'] ? ownErrors(value, path) : [];
  const values = valuesOf(schema);
  for (const [key, inner] of Object.entries(value)) {
    const property = propertyOf(schema, key);
    if (property) errors.push(...embeddedObjectErrors(inner, property, child(path, key)));
    else if (values) errors.push(...embeddedObjectErrors(inner, values, mapKey(path, key)));
  }
  return errors;
}

function ownErrors(value: Record<string, unknown>, path: string): FieldError[] {
  const { apiVersion, kind, metadata } = value;
  const missing = ['apiVersion', 'kind'].filter((name) => value[name] === undefined);
  return [
    ...missing.map((name) => required(child(path, name))),
    ...textErrors(apiVersion, child(path, 'apiVersion'), apiVersionError),
    ...textErrors(kind, child(path, 'kind'), kindError),
    ...(isObject(metadata) ? metadataErrors(metadata, child(path, 'metadata')) : []),
  ];
}

function textErrors(
  value: unknown,
  path: string,
  problem: (text: string) => string | undefined,
): FieldError[] {
  if (value === undefined) return [];
  if (typeof value !== 'string') return [invalid(path, value, 'must be a string')];
  if (value === '') return [invalid(path, value, 'must not be empty')];
  const detail = problem(value);
  return detail === undefined ? [] : [invalid(path, value, detail)];
}

const apiVersionError = (text: string): string | undefined =>
  text.split('/').length > 2 ? `unexpected GroupVersion string: ${text}` : undefined;

function kindError(text: string): string | undefined {
  const messages = isDns1035Label(text.toLowerCase());
  return messages.length > 0
    ? `may have mixed case, but should otherwise match: ${messages.join(',')}`
    : undefined;
}

/** A name need not be there. */
function metadataErrors(metadata: Partial<ObjectMeta>, path: string): FieldError[] {
  const named = { ...metadata, name: metadata.name || 'fakename' };
  return validateObjectMeta(named, {
    isNamespaced: (metadata.namespace ?? '') !== '',
    nameCheck: isPathSegmentName,
    path,
  });
}

import { child, deepEqual, invalid, isObject, mapKey } from '@tinkernetes/apimachinery';
import type { FieldError } from '../../contracts';
import { celErrorsOfValue } from '../cel-rules';
import { embeddedObjectErrors } from '../embedded-objects';
import { prune } from '../prune';
import { itemsOf, type Schema } from '../structural-schema';
import { validateValue } from '../validate-value';

const metaFields = ['metadata', 'apiVersion', 'kind'];

/** What is wrong with the defaults in a schema. Source: apiextensions-apiserver/pkg/apiserver/schema/defaulting. */
export const defaultErrors = (root: Schema, path: string): FieldError[] =>
  visit({ ...root, 'x-kubernetes-embedded-resource': true }, path, false);

function visit(schema: Schema, path: string, isInsideMeta: boolean): FieldError[] {
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const insideMeta = isInsideMeta && !isEmbedded;
  const errors =
    (schema.default ?? null) === null ? [] : ownErrors(schema, child(path, 'default'), insideMeta);
  const items = itemsOf(schema);
  if (items) errors.push(...visit(items, child(path, 'items'), insideMeta));
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const isMeta = insideMeta || (isEmbedded && metaFields.includes(name));
    errors.push(...visit(property, mapKey(child(path, 'properties'), name), isMeta));
  }
  return errors;
}

function ownErrors(schema: Schema, path: string, insideMeta: boolean): FieldError[] {
  const { default: value } = schema;
  const errors: FieldError[] = [];
  if (!insideMeta && !deepEqual(pruned(value, schema), value)) {
    errors.push(invalid(path, value, 'must not have unknown fields'));
  }
  const shape = firstErrors(
    () => (insideMeta ? [] : embeddedObjectErrors(value, schema, path)),
    // Upstream's schema of defaults knows no type for int or string.
    () =>
      validateValue(value, { ...schema, 'x-kubernetes-int-or-string': false }, '').map((error) =>
        below(path, error),
      ),
    () => celErrorsOfValue(value, schema, path),
  );
  return [...errors, ...shape];
}

/** Of several checks, those after the first that fails are not made. */
function firstErrors(...checks: readonly (() => FieldError[])[]): FieldError[] {
  for (const check of checks) {
    const errors = check();
    if (errors.length > 0) return errors;
  }
  return [];
}

const below = (path: string, error: FieldError): FieldError => ({
  ...error,
  field: error.field === '' || error.field === '<nil>' ? path : child(path, error.field.replace(/^\./, '')),
});

function pruned(value: unknown, schema: Schema): unknown {
  return isObject(value) || Array.isArray(value) ? prune(value, schema, '', []) : value;
}

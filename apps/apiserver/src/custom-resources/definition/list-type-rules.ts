import {
  child,
  forbidden,
  invalid,
  isObject,
  mapKey,
  notSupported,
  required,
} from '@tinkernetes/apimachinery';
import type { FieldError } from '../../contracts';
import { itemsOf, propertyOf, type Schema } from '../structural-schema';
import { internalItems } from './internal-schema';

/** What is wrong with how lists and maps of a schema merge. Source: ValidateCustomResourceDefinitionOpenAPISchema. */
export const listTypeErrors = (schema: Schema, path: string): FieldError[] => [
  ...mapTypeErrors(schema, path),
  ...ownListTypeErrors(schema, path),
  ...(schema['x-kubernetes-list-type'] === 'map' ? listMapErrors(schema, path) : []),
  ...elementErrors(schema, path),
];

function ofType(schema: Schema, path: string, wanted: { type: string; because: string }): FieldError[] {
  if (schema.type === wanted.type) return [];
  const detail = `must be ${wanted.type} if ${wanted.because} is specified`;
  const at = child(path, 'type');
  return schema.type ? [invalid(at, schema.type, detail)] : [required(at, detail)];
}

function mapTypeErrors(schema: Schema, path: string): FieldError[] {
  const because = 'x-kubernetes-map-type';
  const type = schema[because];
  if (type === undefined) return [];
  const errors = ofType(schema, path, { type: 'object', because });
  const known = ['atomic', 'granular'];
  return known.includes(type) ? errors : [...errors, notSupported(child(path, because), type, known)];
}

function ownListTypeErrors(schema: Schema, path: string): FieldError[] {
  const because = 'x-kubernetes-list-type';
  const type = schema[because];
  const at = child(path, because);
  const hasKeys = (schema['x-kubernetes-list-map-keys'] ?? []).length > 0;
  const keysDetail = 'must be map if x-kubernetes-list-map-keys is non-empty';
  if (type === undefined) return hasKeys ? [required(at, keysDetail)] : [];
  const errors = ofType(schema, path, { type: 'array', because });
  if (errors.length === 0 && type === 'set') errors.push(...setErrors(itemsOf(schema), child(path, 'items')));
  const known = ['atomic', 'set', 'map'];
  if (!known.includes(type)) errors.push(notSupported(at, type, known));
  if (hasKeys && type !== 'map') errors.push(invalid(at, type, keysDetail));
  return errors;
}

function setErrors(items: Schema | undefined, path: string): FieldError[] {
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const listType = items?.['x-kubernetes-list-type'];
  if (items?.type === 'array' && listType !== undefined && listType !== 'atomic') {
    return [invalid(child(path, 'x-kubernetes-list-type'), listType, detail)];
  }
  const isGranular = items?.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic';
  // Upstream prints the list's type of the objects.
  return isGranular ? [invalid(child(path, 'x-kubernetes-map-type'), listType, detail)] : [];
}

function listMapErrors(schema: Schema, path: string): FieldError[] {
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const keysPath = child(path, 'x-kubernetes-list-map-keys');
  const itemsPath = child(path, 'items');
  const items = itemsOf(schema);
  const errors: FieldError[] = [];
  if (keys.length === 0)
    errors.push(required(keysPath, 'must not be empty if x-kubernetes-list-type is map'));
  if (schema.items === undefined) {
    errors.push(required(itemsPath, 'must have a schema if x-kubernetes-list-type is map'));
  } else if (!items) {
    const detail = 'must only have a single schema if x-kubernetes-list-type is map';
    errors.push(invalid(itemsPath, internalItems(schema.items), detail));
  } else if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    errors.push(invalid(child(itemsPath, 'type'), items.type ?? '', detail));
  } else {
    keys.forEach((key, i) => {
      const property = propertyOf(items, key);
      if (!property) errors.push(invalid(keysPath, keys, 'entries must all be names of item properties'));
      else if (property.type === 'array' || property.type === 'object') {
        const at = child(mapKey(child(itemsPath, 'properties'), key), 'type');
        const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
        errors.push(invalid(at, items.type, detail));
      }
      if (keys.indexOf(key) < i) errors.push(invalid(keysPath, keys, 'must not contain duplicate entries'));
    });
  }
  return errors;
}

/** Elements of sets and maps have to be there, and those of maps their keys. */
function elementErrors(schema: Schema, path: string): FieldError[] {
  const type = schema['x-kubernetes-list-type'];
  const items = isObject(schema.items) ? itemsOf(schema) : undefined;
  if (!items || (type !== 'set' && type !== 'map')) return [];
  const errors: FieldError[] = [];
  const at = child(path, 'items');
  if (items.nullable) {
    errors.push(
      forbidden(child(at, 'nullable'), `cannot be nullable when x-kubernetes-list-type is ${type}`),
    );
  }
  if (type === 'set') return errors;
  for (const key of schema['x-kubernetes-list-map-keys'] ?? []) {
    const property = propertyOf(items, key);
    if (!property) continue;
    const keyPath = mapKey(child(at, 'properties'), key);
    const what = 'this property is in x-kubernetes-list-map-keys, so it';
    if (!items.required?.includes(key) && (property.default ?? null) === null) {
      errors.push(
        required(child(keyPath, 'default'), `${what} must have a default or be a required property`),
      );
    }
    if (property.nullable) errors.push(forbidden(child(keyPath, 'nullable'), `${what} cannot be nullable`));
  }
  return errors;
}

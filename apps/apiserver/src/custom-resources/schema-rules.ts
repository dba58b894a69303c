import type { CustomResourceDefinition } from '@tinkernetes/api';
import { isObject, forbidden, invalid, notSupported, required } from '@tinkernetes/apimachinery';
import type { FieldError } from '../contracts';
import { costErrors, ruleErrors } from './cel-rules';
import { patternError } from './patterns';
import { itemsOf, valuesOf, type Schema } from './structural-schema';
import { validateValue } from './validate-value';

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const listTypes = ['atomic', 'set', 'map'];
const unsupported = [
  'id',
  'additionalItems',
  'patternProperties',
  'definitions',
  'dependencies',
  '$ref',
] as const;

/**
 * What keeps a definition's schemas from being structural. Source:
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
 */
export function schemaErrors({ spec }: CustomResourceDefinition): FieldError[] {
  const single = spec.versions.length === 1;
  return spec.versions.flatMap((version, i) => {
    const schema = version.schema?.openAPIV3Schema;
    if (!schema) return [required(`spec.versions[${i}].schema.openAPIV3Schema`)];
    const path = single ? 'spec.validation.openAPIV3Schema' : `spec.versions[${i}].schema.openAPIV3Schema`;
    const root = schema.type === 'object' ? [] : [rootType(schema, path)];
    if (schema.type && schema.type !== 'object' && version.subresources?.status) {
      const detail =
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
      root.push(invalid(`${path}.type`, schema.type, detail));
    }
    return [...root, ...nodeErrors(schema, path, { isRoot: true }), ...costErrors(schema, path)];
  });
}

const rootType = (schema: Schema, path: string): FieldError =>
  schema.type
    ? invalid(`${path}.type`, schema.type, 'must be object at the root')
    : required(`${path}.type`, 'must not be empty at the root');

function nodeErrors(schema: Schema, path: string, { isRoot = false } = {}): FieldError[] {
  const errors = [
    ...typeErrors(schema, path),
    ...listErrors(schema, path),
    ...mapErrors(schema, path),
    ...embeddedErrors(schema, path),
    ...ruleErrors(schema, path, isRoot),
  ];
  const reason = schema.pattern === undefined ? undefined : patternError(schema.pattern);
  if (reason !== undefined) {
    errors.push(
      invalid(`${path}.pattern`, schema.pattern, `must be a valid regular expression, but isn't: ${reason}`),
    );
  }
  if (schema.default !== undefined) errors.push(...defaultErrors(schema, path));
  errors.push(...unsupportedErrors(schema, path));
  if (schema.uniqueItems) {
    errors.push(
      forbidden(
        `${path}.uniqueItems`,
        'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ),
    );
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    errors.push(...childErrors(property, `${path}.properties[${name}]`, 'specified object fields'));
  }
  const items = itemsOf(schema);
  if (items) errors.push(...childErrors(items, `${path}.items`, 'specified array items'));
  const values = isObject(schema.additionalProperties) ? valuesOf(schema) : undefined;
  if (values) {
    errors.push(...childErrors(values, `${path}.additionalProperties`, 'specified object fields'));
    if (schema.properties) {
      errors.push(
        forbidden(`${path}.additionalProperties`, 'additionalProperties and properties are mutual exclusive'),
      );
    }
  }
  return errors;
}

/** JSON schema has more than structural schemas may use. */
function unsupportedErrors(schema: Schema, path: string): FieldError[] {
  const errors = unsupported
    .filter((field) => schema[field] !== undefined)
    .map((field) => forbidden(`${path}.${field}`, `${field} is not supported`));
  if (Array.isArray(schema.items)) {
    errors.push(forbidden(`${path}.items`, 'items must be a schema object and not an array'));
  }
  return errors;
}

function childErrors(schema: Schema, path: string, what: string): FieldError[] {
  const untyped =
    !schema.type && !schema['x-kubernetes-int-or-string'] && !schema['x-kubernetes-preserve-unknown-fields'];
  const own = untyped ? [required(`${path}.type`, `must not be empty for ${what}`)] : [];
  return [...own, ...nodeErrors(schema, path)];
}

function typeErrors(schema: Schema, path: string): FieldError[] {
  if (!schema.type) return [];
  if (!types.includes(schema.type)) return [notSupported(`${path}.type`, schema.type, types)];
  if (schema.type === 'array' && !schema.items) return [required(`${path}.items`, 'must be specified')];
  return [];
}

function ofType(
  schema: Schema,
  path: string,
  { type, because }: { type: string; because: string },
): FieldError[] {
  const detail = `must be ${type} if ${because}`;
  if (schema.type === type) return [];
  return schema.type ? [invalid(`${path}.type`, schema.type, detail)] : [required(`${path}.type`, detail)];
}

function mapErrors(schema: Schema, path: string): FieldError[] {
  const type = schema['x-kubernetes-map-type'];
  if (type === undefined) return [];
  const errors = ofType(schema, path, { type: 'object', because: 'x-kubernetes-map-type is specified' });
  return ['atomic', 'granular'].includes(type)
    ? errors
    : [...errors, notSupported(`${path}.x-kubernetes-map-type`, type, ['atomic', 'granular'])];
}

function embeddedErrors(schema: Schema, path: string): FieldError[] {
  if (!schema['x-kubernetes-embedded-resource']) return [];
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const hasProperties = Object.keys(schema.properties ?? {}).length > 0;
  return [
    ...(isOpen || hasProperties
      ? []
      : [
          required(
            `${path}.properties`,
            'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
          ),
        ]),
    ...ofType(schema, path, { type: 'object', because: 'x-kubernetes-embedded-resource is true' }),
  ];
}

function listErrors(schema: Schema, path: string): FieldError[] {
  const type = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const keysPath = `${path}.x-kubernetes-list-map-keys`;
  if (type === undefined) {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty';
    return keys.length > 0 ? [required(`${path}.x-kubernetes-list-type`, detail)] : [];
  }
  const errors = ofType(schema, path, { type: 'array', because: 'x-kubernetes-list-type is specified' });
  if (!listTypes.includes(type)) errors.push(notSupported(`${path}.x-kubernetes-list-type`, type, listTypes));
  if (errors.length > 0) return errors;
  if (type !== 'map') {
    return keys.length ? [forbidden(keysPath, 'must not be set if x-kubernetes-list-type is not map')] : [];
  }
  if (keys.length === 0) return [required(keysPath, 'must not be empty if x-kubernetes-list-type is map')];
  const items = itemsOf(schema);
  if (!items) return [required(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map')];
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    return [invalid(`${path}.items.type`, items.type ?? '', detail)];
  }
  return keys.flatMap((key, i) =>
    items?.properties && Object.hasOwn(items.properties, key)
      ? []
      : [invalid(`${keysPath}[${i}]`, key, 'entries must all be names of item properties')],
  );
}

function defaultErrors(schema: Schema, path: string): FieldError[] {
  return validateValue(schema.default, { ...schema, default: undefined }, '').map((error) => ({
    ...error,
    field: error.field ? `${path}.default.${error.field}` : `${path}.default`,
  }));
}

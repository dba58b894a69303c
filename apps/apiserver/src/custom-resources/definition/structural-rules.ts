import { child, forbidden, index, invalid, isObject, mapKey, required } from '@tinkernetes/apimachinery';
import type { FieldError } from '../../contracts';
import { patternError } from '../patterns';
import { itemsOf, propertyOf, type Schema } from '../structural-schema';

type Level = 'root' | 'item' | 'field';

const whereTypesAreWanted: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

/**
 * What keeps a schema from being structural. Source: apiextensions-apiserver/pkg/apiserver/schema/validation.go and
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
 */
export const structuralErrors = (schema: Schema, path: string): FieldError[] => [
  ...invariantErrors(schema, 'root', path),
  ...completenessErrors(schema, { schema, path }, path),
];

const propertiesOf = (schema: Schema): [string, Schema][] => Object.entries(schema.properties ?? {});
const additionalOf = (schema: Schema): Schema | undefined =>
  isObject(schema.additionalProperties) ? (schema.additionalProperties as Schema) : undefined;

function invariantErrors(schema: Schema, level: Level, path: string): FieldError[] {
  const items = itemsOf(schema);
  const errors: FieldError[] = [];
  if (schema.type === 'array' && !items) errors.push(required(child(path, 'items'), 'must be specified'));
  if (items) errors.push(...invariantErrors(items, 'item', child(path, 'items')));
  for (const [name, property] of propertiesOf(schema)) {
    errors.push(...invariantErrors(property, 'field', mapKey(child(path, 'properties'), name)));
  }
  const values = additionalOf(schema);
  if (level === 'root' && schema.additionalProperties !== undefined) {
    errors.push(forbidden(child(path, 'additionalProperties'), 'must not be used at the root'));
  }
  if (values) errors.push(...invariantErrors(values, 'field', child(path, 'additionalProperties')));
  return [
    ...errors,
    ...extensionErrors(schema, path),
    ...valueErrors(schema, path, intOrStringParts(schema)),
    ...typeErrors(schema, level, path),
    ...objectTypeErrors(schema, level, path),
  ];
}

function extensionErrors(schema: Schema, path: string): FieldError[] {
  if (!schema['x-kubernetes-int-or-string']) return [];
  return (['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const)
    .filter((extension) => schema[extension])
    .map((extension) =>
      invalid(child(path, extension), true, 'must be false if x-kubernetes-int-or-string is true'),
    );
}

function typeErrors(schema: Schema, level: Level, path: string): FieldError[] {
  const { type, 'x-kubernetes-embedded-resource': isEmbedded } = schema;
  const at = child(path, 'type');
  const errors: FieldError[] = [];
  if (isEmbedded && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(type ? invalid(at, type, detail) : required(at, detail));
  } else if (
    !type &&
    !schema['x-kubernetes-int-or-string'] &&
    !schema['x-kubernetes-preserve-unknown-fields']
  ) {
    errors.push(required(at, whereTypesAreWanted[level]));
  }
  if (isEmbedded && schema.additionalProperties !== undefined) {
    const detail = 'must not be used if x-kubernetes-embedded-resource is set';
    errors.push(forbidden(child(path, 'additionalProperties'), detail));
  }
  if (level === 'root' && type && type !== 'object')
    errors.push(invalid(at, type, 'must be object at the root'));
  return errors;
}

/** What objects have: apiVersion, kind and metadata. */
function objectTypeErrors(schema: Schema, level: Level, path: string): FieldError[] {
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const errors: FieldError[] = [];
  const isObjectType = level === 'root' || isEmbedded;
  const at = (name: string) => mapKey(child(path, 'properties'), name);
  for (const name of ['kind', 'apiVersion']) {
    const property = isObjectType ? propertyOf(schema, name) : undefined;
    if (property && property.type !== 'string') {
      errors.push(invalid(child(at(name), 'type'), property.type ?? '', 'must be string'));
    }
  }
  const metadata = propertyOf(schema, 'metadata');
  if (metadata && isObjectType && metadata.type !== 'object') {
    errors.push(invalid(child(at('metadata'), 'type'), metadata.type ?? '', 'must be object'));
  }
  if (metadata && level === 'root' && saysMoreThanNames(metadata)) {
    const detail =
      'must not specify anything other than name and generateName, but metadata is implicitly specified';
    errors.push(forbidden(at('metadata'), detail));
  }
  const isEmpty = !schema['x-kubernetes-preserve-unknown-fields'] && propertiesOf(schema).length === 0;
  if (isEmbedded && isEmpty) {
    const detail =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    errors.push(required(child(path, 'properties'), detail));
  }
  return errors;
}

function saysMoreThanNames({ type: _type, default: _default, properties = {}, ...more }: Schema): boolean {
  const isMore = Object.values(more).some((value) => value !== undefined && value !== false && value !== '');
  return isMore || Object.keys(properties).some((name) => !['name', 'generateName'].includes(name));
}

interface IntOrStringParts {
  /** `anyOf` is the pattern that says int or string. */
  readonly anyOf?: boolean;
  /** The first of `allOf` has it. */
  readonly allOf?: boolean;
}

function intOrStringParts({ anyOf, allOf }: Schema): IntOrStringParts {
  return { anyOf: isIntOrString(anyOf), allOf: isIntOrString(allOf?.[0]?.anyOf) };
}

const isIntOrString = (parts: readonly Schema[] | undefined): boolean =>
  parts?.length === 2 &&
  parts.every((part, i) => Object.keys(part).length === 1 && part.type === (i === 0 ? 'integer' : 'string'));

/** The junctors of a schema may only say what values are like, not what there is. */
function valueErrors(schema: Schema, path: string, skipped: IntOrStringParts): FieldError[] {
  const errors: FieldError[] = [];
  const each = (parts: readonly Schema[] | undefined, name: string, skipFirst: IntOrStringParts) =>
    parts?.forEach((part, i) => {
      errors.push(...nestedErrors(part, index(child(path, name), i), i === 0 ? skipFirst : {}));
    });
  if (!skipped.anyOf) each(schema.anyOf, 'anyOf', {});
  each(schema.allOf, 'allOf', { anyOf: skipped.allOf });
  each(schema.oneOf, 'oneOf', {});
  if (schema.not) errors.push(...nestedErrors(schema.not, child(path, 'not'), {}));
  const reason = schema.pattern ? patternError(schema.pattern) : undefined;
  if (reason !== undefined) {
    const detail = `must be a valid regular expression, but isn't: ${reason}`;
    errors.push(invalid(child(path, 'pattern'), schema.pattern, detail));
  }
  return errors;
}

const onlyOutside = {
  type: 'empty',
  title: 'empty',
  description: 'empty',
  default: 'undefined',
  nullable: 'false',
  'x-kubernetes-preserve-unknown-fields': 'false',
  'x-kubernetes-embedded-resource': 'false',
  'x-kubernetes-int-or-string': 'false',
  'x-kubernetes-list-map-keys': 'empty',
  'x-kubernetes-list-type': 'undefined',
  'x-kubernetes-map-type': 'undefined',
  'x-kubernetes-validations': 'empty',
} as const satisfies Partial<Record<keyof Schema, string>>;

const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== false && value !== '' && !isEmptyList(value);
const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

function nestedErrors(schema: Schema, path: string, skipped: IntOrStringParts): FieldError[] {
  const errors = valueErrors(schema, path, skipped);
  const items = itemsOf(schema);
  if (items) errors.push(...nestedErrors(items, child(path, 'items'), {}));
  for (const [name, property] of propertiesOf(schema)) {
    errors.push(...nestedErrors(property, mapKey(child(path, 'properties'), name), {}));
  }
  for (const [name, wanted] of Object.entries(onlyOutside)) {
    const value = schema[name as keyof typeof onlyOutside];
    const isForbidden = name === 'default' ? value !== undefined && value !== null : isGiven(value);
    if (isForbidden) errors.push(forbidden(child(path, name), `must be ${wanted} to be structural`));
  }
  if (isGiven(schema.additionalProperties)) {
    errors.push(forbidden(child(path, 'additionalProperties'), 'must be undefined to be structural'));
  }
  if (propertyOf(schema, 'metadata')) {
    const at = mapKey(child(path, 'properties'), 'metadata');
    errors.push(forbidden(at, 'must not be specified in a nested context'));
  }
  return errors;
}

/** A place outside of all junctors. */
interface Outside {
  readonly schema: Schema | undefined;
  readonly path: string;
}

/** What junctors speak of has to be there outside of them, too. */
function completenessErrors(schema: Schema, outside: Outside, path: string): FieldError[] {
  const nested = (part: Schema, at: string) => nestedCompletenessErrors(part, outside, at);
  return [
    ...(schema.not ? nested(schema.not, child(path, 'not')) : []),
    ...(['allOf', 'anyOf', 'oneOf'] as const).flatMap((name) =>
      (schema[name] ?? []).flatMap((part, i) => nested(part, index(child(path, name), i))),
    ),
  ];
}

function nestedCompletenessErrors(part: Schema, outside: Outside, path: string): FieldError[] {
  if (!outside.schema) return [required(outside.path, `because it is defined in ${path}`)];
  const errors = completenessErrors(part, outside, path);
  const items = itemsOf(part);
  if (items) {
    const itemsOutside = { schema: itemsOf(outside.schema), path: child(outside.path, 'items') };
    errors.push(...nestedCompletenessErrors(items, itemsOutside, child(path, 'items')));
  }
  for (const [name, property] of propertiesOf(part)) {
    const at = mapKey(child(outside.path, 'properties'), name);
    const propertyOutside = { schema: propertyOf(outside.schema, name), path: at };
    errors.push(
      ...nestedCompletenessErrors(property, propertyOutside, mapKey(child(path, 'properties'), name)),
    );
  }
  return errors;
}

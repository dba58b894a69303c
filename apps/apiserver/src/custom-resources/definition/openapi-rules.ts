import { child, forbidden, index, invalid, isObject, mapKey, notSupported } from '@tinkernetes/apimachinery';
import type { FieldError } from '../../contracts';
import { itemsOf, type Schema } from '../structural-schema';
import { expressionErrors, type RuleCosts } from './expression-rules';
import { listTypeErrors } from './list-type-rules';
import { ruleDeclarationErrors } from './rule-declarations';
import { childCardinality, type Cardinality } from './cardinality';

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const metaFields = ['metadata', 'kind', 'apiVersion'];

/** What holds for a place in a schema because of what is around it. */
export interface Place {
  readonly path: string;
  readonly isRoot?: boolean;
  readonly insideMeta?: boolean;
  /** Why there may be no defaults; undefined: there may. */
  readonly noDefaults?: string;
  /** The outermost place whose parts can't be told from one another in two revisions of an object. */
  readonly uncorrelatable?: string;
  /** Undefined where expressions are not looked at. */
  readonly expressions?: { readonly cardinality: Cardinality; readonly costs: RuleCosts };
}

interface Found {
  readonly schema: FieldError[];
  readonly cel: FieldError[];
}

/** What JSON schema has and definitions may not. Source: ValidateCustomResourceDefinitionOpenAPISchema. */
export function openApiErrors(schema: Schema, place: Place): FieldError[] {
  const { schema: errors, cel } = visit(schema, place);
  return [...errors, ...cel];
}

function visit(schema: Schema, place: Place): Found {
  const { path } = place;
  const found: Found = { schema: ownErrors(schema, place), cel: [] };
  const into = (part: unknown, inner: Place) => {
    if (!isObject(part)) return;
    const { schema: errors, cel } = visit(part, inner);
    found.schema.push(...errors);
    found.cel.push(...cel);
  };
  for (const [part, inner] of partsOf(schema, place)) into(part, inner);
  found.schema.push(...listTypeErrors(schema, path), ...ruleDeclarationErrors(schema, path));
  // Rules of what is no schema would only say the same in other words.
  if (found.schema.length === 0 && place.expressions) {
    const { cardinality, costs } = place.expressions;
    const isResource = place.isRoot === true || schema['x-kubernetes-embedded-resource'] === true;
    const { uncorrelatable } = place;
    found.cel.push(...expressionErrors(schema, { path, isResource, uncorrelatable, cardinality, costs }));
  }
  return found;
}

function* partsOf(schema: Schema, place: Place): Generator<readonly [part: unknown, place: Place]> {
  const { path, isRoot, expressions } = place;
  const around: Place = { ...place, isRoot: false };
  const within = expressions && {
    ...expressions,
    cardinality: childCardinality(expressions.cardinality, schema),
  };
  const closed = { ...around, expressions: undefined };
  const forElements = { ...around, expressions: within };
  const noDefaults = around.insideMeta
    ? 'inside additionalProperties applying to object metadata'
    : place.noDefaults;
  yield [
    schema.additionalProperties,
    { ...forElements, noDefaults, path: child(path, 'additionalProperties') },
  ];
  const isObjectType = isRoot === true || schema['x-kubernetes-embedded-resource'] === true;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const at = { ...forElements, path: mapKey(child(path, 'properties'), name) };
    if (!isObjectType || !metaFields.includes(name)) yield [property, at];
    else {
      const reason = isRoot ? `in top-level ${name}` : at.noDefaults;
      yield [property, { ...at, insideMeta: true, noDefaults: reason }];
    }
  }
  yield [schema.not, { ...closed, path: child(path, 'not') }];
  for (const name of ['allOf', 'oneOf', 'anyOf'] as const) {
    for (const [i, part] of (schema[name] ?? []).entries()) {
      yield [part, { ...closed, path: index(child(path, name), i) }];
    }
  }
  for (const name of ['definitions', 'dependencies'] as const) {
    for (const [key, part] of Object.entries(schema[name] ?? {})) {
      yield [part, { ...closed, path: mapKey(child(path, name), key) }];
    }
  }
  const isMap = schema['x-kubernetes-list-type'] === 'map';
  const forItems = isMap ? forElements : withUncorrelatable(forElements, path);
  const itemsPath = child(path, 'items');
  if (!Array.isArray(schema.items)) yield [itemsOf(schema), { ...forItems, path: itemsPath }];
  else
    for (const [i, part] of schema.items.entries()) yield [part, { ...forItems, path: index(itemsPath, i) }];
}

const withUncorrelatable = (place: Place, path: string): Place => ({
  ...place,
  uncorrelatable: place.uncorrelatable ?? path,
});

function ownErrors(schema: Schema, { path, insideMeta, noDefaults }: Place): FieldError[] {
  const errors: FieldError[] = [];
  const forbid = (name: string, detail: string) => errors.push(forbidden(child(path, name), detail));
  if (schema.type && !types.includes(schema.type)) {
    errors.push(notSupported(child(path, 'type'), schema.type, types));
  }
  const hasDefault = schema.default !== undefined && schema.default !== null;
  if (hasDefault && noDefaults !== undefined) forbid('default', `must not be set ${noDefaults}`);
  for (const name of unsupportedOf(schema)) forbid(name, `${name} is not supported`);
  if (schema.type === 'null') forbid('type', 'type cannot be set to null, use nullable as an alternative');
  if (Array.isArray(schema.items) && schema.items.length > 0) {
    forbid('items', 'items must be a schema object and not an array');
  }
  if (insideMeta && schema['x-kubernetes-embedded-resource']) {
    forbid('x-kubernetes-embedded-resource', 'must not be used inside of resource meta');
  }
  if (schema.uniqueItems) {
    forbid('uniqueItems', 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic');
  }
  const hasProperties = Object.keys(schema.properties ?? {}).length > 0;
  if (hasProperties && schema.additionalProperties !== undefined && schema.additionalProperties !== true) {
    forbid('additionalProperties', 'additionalProperties and properties are mutual exclusive');
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    const at = child(path, 'x-kubernetes-preserve-unknown-fields');
    errors.push(invalid(at, false, 'must be true or undefined'));
  }
  return errors;
}

function unsupportedOf(schema: Schema): string[] {
  const given = (name: keyof Schema) => {
    const value = schema[name];
    return isObject(value) ? Object.keys(value).length > 0 : value !== undefined;
  };
  return [
    ...(schema.id ? ['id'] : []),
    ...(schema.additionalItems === undefined ? [] : ['additionalItems']),
    ...(['patternProperties', 'definitions'] as const).filter(given),
    ...(['dependencies', '$ref'] as const).filter((name) => schema[name] !== undefined),
  ];
}

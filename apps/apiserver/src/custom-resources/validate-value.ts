import {
  isObject,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from '@tinkernetes/apimachinery';
import { deepEqual } from '@tinkernetes/apimachinery';
import type { FieldError } from '../contracts';
import { formatError } from './formats';
import { patternOf } from './patterns';
import { itemsOf, propertyOf, valuesOf, type Schema } from './structural-schema';

/** As go-openapi names JSON types. */
export function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

/** What a custom resource's value breaks of its schema, in go-openapi's words. */
export function validateValue(value: unknown, schema: Schema, path: string): FieldError[] {
  if (value === null || value === undefined) {
    return schema.nullable || value === undefined || !schema.type
      ? []
      : [wrongType(value, schema.type, path)];
  }
  if (schema['x-kubernetes-int-or-string']) {
    if (typeof value !== 'string' && !Number.isInteger(value))
      return [wrongType(value, 'integer,string', path)];
  } else if (schema.type && !hasType(value, schema.type)) return [wrongType(value, schema.type, path)];
  const errors: FieldError[] = [];
  if (schema.enum && !schema.enum.some((allowed) => deepEqual(allowed, value))) {
    errors.push(notSupported(path, value as string, schema.enum.map(enumText)));
  }
  if (typeof value === 'string') errors.push(...stringErrors(value, schema, path));
  else if (typeof value === 'number') errors.push(...numberErrors(value, schema, path));
  else if (Array.isArray(value)) errors.push(...listErrors(value, schema, path));
  else if (isObject(value)) errors.push(...objectErrors(value, schema, path));
  return [...errors, ...combinedErrors(value, schema, path)];
}

const enumText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const wrongType = (value: unknown, type: string, path: string): FieldError => {
  const given = typeName(value);
  return typeInvalid(path, given, `${path} in body must be of type ${type}: ${JSON.stringify(given)}`);
};

function hasType(value: unknown, type: string): boolean {
  const given = typeName(value);
  return given === type || (type === 'number' && given === 'integer');
}

function stringErrors(value: string, schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const length = [...value].length;
  if (schema.maxLength !== undefined && length > schema.maxLength)
    errors.push(tooLong(path, schema.maxLength));
  if (schema.minLength !== undefined && length < schema.minLength) {
    errors.push(invalid(path, value, `${path} in body should be at least ${schema.minLength} chars long`));
  }
  if (schema.pattern !== undefined && patternOf(schema.pattern)?.test(value) === false) {
    errors.push(invalid(path, value, `${path} in body should match '${schema.pattern}'`));
  }
  const format = schema.format === undefined ? undefined : formatError(value, schema.format);
  if (format)
    errors.push(
      invalid(path, value, `${path} in body must be of type ${schema.format}: ${JSON.stringify(value)}`),
    );
  return errors;
}

function numberErrors(value: number, schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { minimum, maximum, multipleOf } = schema;
  if (maximum !== undefined && (schema.exclusiveMaximum ? value >= maximum : value > maximum)) {
    const than = schema.exclusiveMaximum ? 'less than' : 'less than or equal to';
    errors.push(invalid(path, value, `${path} in body should be ${than} ${maximum}`));
  }
  if (minimum !== undefined && (schema.exclusiveMinimum ? value <= minimum : value < minimum)) {
    const than = schema.exclusiveMinimum ? 'greater than' : 'greater than or equal to';
    errors.push(invalid(path, value, `${path} in body should be ${than} ${minimum}`));
  }
  if (multipleOf !== undefined && !Number.isInteger(value / multipleOf)) {
    errors.push(invalid(path, value, `${path} in body should be a multiple of ${multipleOf}`));
  }
  const range = schema.format === 'int32' ? 2 ** 31 : undefined;
  if (range !== undefined && (value < -range || value >= range)) {
    errors.push(
      invalid(path, value, `${path} in body must be of type int32: ${JSON.stringify(String(value))}`),
    );
  }
  return errors;
}

function listErrors(value: readonly unknown[], schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (schema.maxItems !== undefined && value.length > schema.maxItems) {
    errors.push(tooMany(path, value.length, schema.maxItems));
  }
  if (schema.minItems !== undefined && value.length < schema.minItems) {
    errors.push(invalid(path, value.length, `${path} in body should have at least ${schema.minItems} items`));
  }
  const items = itemsOf(schema);
  if (items) value.forEach((item, i) => errors.push(...validateValue(item, items, `${path}[${i}]`)));
  return [...errors, ...duplicateErrors(value, schema, path)];
}

/** Lists that are sets or maps hold each element once. */
function duplicateErrors(value: readonly unknown[], schema: Schema, path: string): FieldError[] {
  const type = schema['x-kubernetes-list-type'];
  if (type !== 'set' && type !== 'map') return [];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const seen = new Set<string>();
  const errors: FieldError[] = [];
  value.forEach((item, i) => {
    const identity =
      type === 'set' || !isObject(item) ? item : Object.fromEntries(keys.map((key) => [key, item[key]]));
    const text = JSON.stringify(identity);
    if (seen.has(text)) {
      errors.push({
        reason: 'FieldValueDuplicate',
        field: `${path}[${i}]`,
        message: `Duplicate value: ${text}`,
      });
    }
    seen.add(text);
  });
  return errors;
}

function objectErrors(value: Record<string, unknown>, schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const at = (key: string) => (path ? `${path}.${key}` : key);
  const count = Object.keys(value).length;
  if (schema.maxProperties !== undefined && count > schema.maxProperties) {
    errors.push(tooMany(path, count, schema.maxProperties));
  }
  if (schema.minProperties !== undefined && count < schema.minProperties) {
    errors.push(
      invalid(path, count, `${path} in body should have at least ${schema.minProperties} properties`),
    );
  }
  for (const key of schema.required ?? []) if (!Object.hasOwn(value, key)) errors.push(required(at(key)));
  if (schema['x-kubernetes-embedded-resource']) errors.push(...embeddedErrors(value, at));
  const values = valuesOf(schema);
  for (const [key, inner] of Object.entries(value)) {
    const property = propertyOf(schema, key) ?? values;
    if (property) errors.push(...validateValue(inner, property, at(key)));
  }
  return errors;
}

function embeddedErrors(value: Record<string, unknown>, at: (key: string) => string): FieldError[] {
  return ['apiVersion', 'kind'].filter((key) => !value[key]).map((key) => required(at(key)));
}

function combinedErrors(value: unknown, schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const holds = (s: Schema) => validateValue(value, s, path).length === 0;
  for (const part of schema.allOf ?? []) errors.push(...validateValue(value, part, path));
  if (schema.anyOf?.length && !schema['x-kubernetes-int-or-string'] && !schema.anyOf.some(holds)) {
    errors.push(invalid(path, shown(value), `${path} in body must validate at least one schema (anyOf)`));
  }
  if (schema.oneOf?.length) {
    const matching = schema.oneOf.filter(holds).length;
    if (matching !== 1) {
      const found = matching === 0 ? 'Found none valid' : `Found ${matching} valid alternatives`;
      errors.push(
        invalid(
          path,
          shown(value),
          `${path} in body must validate one and only one schema (oneOf). ${found}`,
        ),
      );
    }
  }
  if (schema.not && holds(schema.not)) {
    errors.push(invalid(path, shown(value), `${path} in body must not validate the schema (not)`));
  }
  return errors;
}

const shown = (value: unknown): unknown =>
  isObject(value) || Array.isArray(value) ? typeName(value) : value;

import {
  deepEqual,
  invalid,
  isObject,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from '@tinkernetes/apimachinery';
import type { FieldError } from '../contracts';
import { formatError, isCheckedFormat } from './formats';
import { numberErrors } from './number-rules';
import { patternOf } from './patterns';
import { itemsOf, propertyOf, valuesOf, type Schema } from './structural-schema';
import { correlatedItem } from './correlation';

/** As go-openapi names JSON types. */
export function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : 'number';
  return typeof value;
}

/** What was found, and how many checks were passed: of alternatives, the one that passed most tells what is wrong. */
interface Result {
  readonly errors: FieldError[];
  checks: number;
}

const result = (...errors: FieldError[]): Result => ({ errors, checks: 0 });

function merge(into: Result, other: Result): void {
  into.errors.push(...other.errors);
  into.checks += other.checks;
}

/**
 * What a custom resource's value breaks of its schema, in go-openapi's words. What is as it was in `old` is not held
 * against an update. Source: kube-openapi/pkg/validation/validate and apiextensions-apiserver/pkg/apiserver/validation.
 */
export const validateValue = (value: unknown, schema: Schema, path: string, old?: unknown): FieldError[] =>
  validate(value, schema, path, old).errors;

function validate(value: unknown, schema: Schema, path: string, old: unknown): Result {
  const all = result();
  const checks = value === undefined ? [] : value === null ? nullChecks : checksOf(value);
  for (const check of checks) {
    merge(all, check(value, schema, path, old));
    all.checks++;
  }
  all.checks++;
  const isKept = all.errors.length > 0 && old !== undefined && deepEqual(value, old);
  return isKept ? { ...all, errors: [] } : all;
}

type Check = (value: unknown, schema: Schema, path: string, old: unknown) => Result;

const typed: Check = (value, schema, path) => result(...typeErrors(value, schema, path));
const enumerated: Check = (value, schema, path) => result(...enumErrors(value, schema, path));
const combined: Check = (value, schema, path) => combine(value, schema, path);
const nullChecks: readonly Check[] = [typed, enumerated];

function checksOf(value: unknown): readonly Check[] {
  const own: Check[] = [];
  if (typeof value === 'string') own.push((_, schema, path) => result(...stringErrors(value, schema, path)));
  else if (typeof value === 'number')
    own.push((_, schema, path) => result(...numberErrors(value, schema, path)));
  else if (Array.isArray(value)) own.push((_, schema, path, old) => list(value, schema, path, old));
  else if (isObject(value)) own.push((_, schema, path, old) => object(value, schema, path, old));
  return [typed, combined, ...own, enumerated];
}

const formatOf = ({ format, type }: Schema): string | undefined =>
  format && isCheckedFormat(format, type) ? format : undefined;

function typesOf(schema: Schema): readonly string[] {
  if (schema['x-kubernetes-int-or-string']) return ['integer', 'string'];
  return schema.type ? [schema.type] : [];
}

function typeErrors(value: unknown, schema: Schema, path: string): FieldError[] {
  const types = typesOf(schema);
  const format = formatOf(schema);
  if (types.length === 0 && format === undefined) return [];
  const given = typeName(value);
  const wrong = (wanted: string, found: string) => [
    typeInvalid(path, found, `${path} in body must be of type ${wanted}: ${JSON.stringify(found)}`),
  ];
  if (value === null) return types.length > 0 && !schema.nullable ? wrong(types.join(','), given) : [];
  const fits = types.includes(given) || (given === 'integer' && types.includes('number'));
  const isTextOrList = typeof value === 'string' || Array.isArray(value);
  if (!isTextOrList && format !== undefined && !fits) return wrong(format, goFormat(value));
  const isNumeric = types.includes('number') || types.includes('integer');
  if (!isNumeric && format !== undefined && isTextOrList) return [];
  return fits ? [] : wrong(types.join(','), given);
}

/** As Go's type of the value would be called as a format. */
function goFormat(value: unknown): string {
  if (typeof value !== 'number') return '';
  return Number.isSafeInteger(value) ? 'int64' : 'float64';
}

function enumErrors(value: unknown, { enum: allowed, ...schema }: Schema, path: string): FieldError[] {
  if (!allowed?.length || allowed.some((item) => deepEqual(item, value))) return [];
  if (value === null && schema.nullable && allowed.includes(null)) return [];
  return [notSupported(path, value, allowed.map(enumText))];
}

const enumText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Only the first is told of length and pattern. */
function stringErrors(value: string, schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const length = [...value].length;
  if (schema.maxLength !== undefined && length > schema.maxLength)
    errors.push(tooLong(path, schema.maxLength));
  else if (schema.minLength !== undefined && length < schema.minLength) {
    errors.push(invalid(path, value, `${path} in body should be at least ${schema.minLength} chars long`));
  } else if (schema.pattern && patternOf(schema.pattern)?.test(value) === false) {
    errors.push(invalid(path, value, `${path} in body should match '${schema.pattern}'`));
  }
  const format = formatOf(schema);
  if (format !== undefined && formatError(value, format)) {
    const detail = `${path} in body must be of type ${format}: ${JSON.stringify(value)}`;
    errors.push(typeInvalid(path, value, detail));
  }
  return errors;
}

function list(value: readonly unknown[], schema: Schema, path: string, old: unknown): Result {
  const all = result();
  const items = itemsOf(schema);
  if (items) {
    value.forEach((item, i) => {
      merge(all, validate(item, items, `${path}[${i}]`, correlatedItem(item, old, schema)));
    });
  }
  const { minItems, maxItems } = schema;
  if (minItems !== undefined && value.length < minItems) {
    const detail = `${path} in body should have at least ${minItems} items`;
    all.errors.push(invalid(path, value.length, detail));
  }
  if (maxItems !== undefined && value.length > maxItems)
    all.errors.push(tooMany(path, value.length, maxItems));
  all.checks++;
  return all;
}

function object(value: Record<string, unknown>, schema: Schema, path: string, old: unknown): Result {
  const all = result();
  const count = Object.keys(value).length;
  const { minProperties, maxProperties } = schema;
  if (minProperties !== undefined && count < minProperties) {
    const detail = `${path} in body should have at least ${minProperties} properties`;
    all.errors.push(invalid(path, count, detail));
  }
  if (maxProperties !== undefined && count > maxProperties)
    all.errors.push(tooMany(path, count, maxProperties));
  const values = valuesOf(schema);
  for (const [key, inner] of Object.entries(value)) {
    const property = propertyOf(schema, key);
    const before = isObject(old) && Object.hasOwn(old, key) ? old[key] : undefined;
    if (property) merge(all, validate(inner, property, path === '' ? key : `${path}.${key}`, before));
    // Upstream leaves the dot before a key at the root in its messages.
    else if (values) merge(all, validate(inner, values, `${path}.${key}`, before));
  }
  for (const key of schema.required ?? []) {
    if (!Object.hasOwn(value, key)) all.errors.push(required(path === '' ? key : `${path}.${key}`));
  }
  return all;
}

/** A mistake that is in no one field. */
const whole = (path: string, text: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field: '<nil>',
  message: `Invalid value: "": ${JSON.stringify(path)} must ${text}`,
});

function combine(value: unknown, { anyOf, oneOf, allOf, not }: Schema, path: string): Result {
  const all = result();
  const each = (parts: readonly Schema[]) => parts.map((part) => validate(value, part, path, undefined));
  const best = (results: readonly Result[]): Result =>
    results.reduce((a, b) => (b.checks > a.checks ? b : a), results[0] ?? result());
  if (anyOf?.length) {
    const results = each(anyOf);
    const fitting = results.find(isFine);
    if (!fitting) all.errors.push(whole(path, 'validate at least one schema (anyOf)'));
    merge(all, fitting ?? best(results));
  }
  if (oneOf?.length) {
    const results = each(oneOf);
    const fitting = results.filter(isFine);
    if (fitting.length === 1) merge(all, fitting[0] ?? result());
    else {
      const found = fitting.length === 0 ? 'Found none valid' : `Found ${fitting.length} valid alternatives`;
      all.errors.push(whole(path, `validate one and only one schema (oneOf). ${found}`));
      if (fitting.length === 0) merge(all, best(results));
    }
  }
  if (allOf?.length) {
    const results = each(allOf);
    for (const part of results) merge(all, part);
    const fitting = results.filter(isFine).length;
    const none = fitting === 0 ? '. None validated' : '';
    if (fitting < results.length) all.errors.push(whole(path, `validate all the schemas (allOf)${none}`));
  }
  if (not && isFine(validate(value, not, path, undefined))) {
    all.errors.push(whole(path, 'not validate the schema (not)'));
  }
  all.checks++;
  return all;
}

const isFine = ({ errors }: Result): boolean => errors.length === 0;

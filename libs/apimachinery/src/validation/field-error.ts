import { goQuote } from './go-quote';

/** A field that breaks a rule; rendered as upstream words it (`spec.replicas: Invalid value: -1: must be …`). */
export interface FieldError {
  readonly reason:
    | 'FieldValueRequired'
    | 'FieldValueInvalid'
    | 'FieldValueNotSupported'
    | 'FieldValueDuplicate'
    | 'FieldValueForbidden'
    | 'FieldValueNotFound'
    | 'FieldValueTooLong'
    | 'FieldValueTooMany'
    | 'FieldValueTypeInvalid'
    | 'InternalError';
  /** `spec.containers[0].name` */
  readonly field: string;
  /** Without the field: `Required value`, `Invalid value: "x": must …`. */
  readonly message: string;
}

export type FieldErrors = readonly FieldError[];

const withDetail = (text: string, detail: string | undefined) => (detail ? `${text}: ${detail}` : text);

/** The value as `field.Error` prints it: strings quoted as Go does, `null` for nothing, the rest as JSON. */
function formatBadValue(value: unknown): string {
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'string') return goQuote(value);
  return goJson(value);
}

/** JSON as Go's encoder writes it (`<`, `>` and `&` escaped). */
function goJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The field paths of nested values: `child('spec', 'ports')`, `index(path, 0)`, `mapKey(path, 'a')`. */
export const child = (path: string, ...names: string[]): string =>
  names.reduce((parent, name) => (parent === '' ? name : `${parent}.${name}`), path);

export const index = (path: string, i: number): string => `${path}[${i}]`;

export const mapKey = (path: string, key: string): string => `${path}[${key}]`;

/** Builders under upstream's names. Source: k8s.io/apimachinery/pkg/util/validation/field. */
export const required = (field: string, detail?: string): FieldError => ({
  reason: 'FieldValueRequired',
  field,
  message: withDetail('Required value', detail),
});

export const invalid = (field: string, value: unknown, detail?: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field,
  message: withDetail(`Invalid value: ${formatBadValue(value)}`, detail),
});

export const duplicate = (field: string, value: unknown, detail?: string): FieldError => ({
  reason: 'FieldValueDuplicate',
  field,
  message: withDetail(`Duplicate value: ${formatBadValue(value)}`, detail),
});

export const forbidden = (field: string, detail?: string): FieldError => ({
  reason: 'FieldValueForbidden',
  field,
  message: withDetail('Forbidden', detail),
});

export const notFoundField = (field: string, value: unknown): FieldError => ({
  reason: 'FieldValueNotFound',
  field,
  message: `Not found: ${formatBadValue(value)}`,
});

/** The supported values are listed sorted, as upstream's sets are. */
export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError => ({
  reason: 'FieldValueNotSupported',
  field,
  message: withDetail(
    `Unsupported value: ${formatBadValue(value)}`,
    supported.length > 0 ? `supported values: ${supported.map(goQuote).join(', ')}` : undefined,
  ),
});

export const tooLong = (field: string, maxLength: number): FieldError => ({
  reason: 'FieldValueTooLong',
  field,
  message: withDetail(
    'Too long',
    maxLength >= 0
      ? `may not be more than ${maxLength} ${maxLength === 1 ? 'byte' : 'bytes'}`
      : 'value is too long',
  ),
});

export const tooMany = (field: string, actual: number, max: number): FieldError => ({
  reason: 'FieldValueTooMany',
  field,
  message: `Too many: ${actual}: must have at most ${max} ${max === 1 ? 'item' : 'items'}`,
});

export const typeInvalid = (field: string, value: unknown, detail?: string): FieldError => ({
  reason: 'FieldValueTypeInvalid',
  field,
  message: withDetail(`Invalid value: ${formatBadValue(value)}`, detail),
});

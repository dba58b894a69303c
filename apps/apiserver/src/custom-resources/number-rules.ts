import { invalid } from '@tinkernetes/apimachinery';
import type { FieldError } from '../contracts';
import type { Schema } from './structural-schema';

/** What a number breaks of its schema. Source: kube-openapi/pkg/validation/validate (numberValidator). */
export function numberErrors(value: number, schema: Schema, path: string): FieldError[] {
  const { minimum, maximum, multipleOf } = schema;
  const errors = rangeErrors(value, schema, path);
  const told = (text: string) => errors.push(invalid(path, value, `${path} in body should be ${text}`));
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) told(`a multiple of ${multipleOf}`);
  if (minimum !== undefined && (schema.exclusiveMinimum ? value <= minimum : value < minimum)) {
    told(`${schema.exclusiveMinimum ? 'greater than' : 'greater than or equal to'} ${minimum}`);
  }
  if (maximum !== undefined && (schema.exclusiveMaximum ? value >= maximum : value > maximum)) {
    told(`${schema.exclusiveMaximum ? 'less than' : 'less than or equal to'} ${maximum}`);
  }
  return errors;
}

const isMultiple = (value: number, factor: number): boolean =>
  Number.isInteger(factor < 1 ? (1 / factor) * value : value / factor);

const maxFloat = 3.4028234663852886e38;

/** The value has to fit into Go's type for its format. */
function rangeErrors(value: number, { type, format }: Schema, path: string): FieldError[] {
  const fits =
    type === 'integer'
      ? Number.isInteger(value) && (format === 'int32' ? inInt32(value) : inInt64(value))
      : format !== 'float' || Math.abs(value) <= maxFloat;
  if (fits) return [];
  const known =
    format && (type === 'integer' || type === 'number') ? `with format ${format}` : '(default format)';
  const message = `Invalid value: "": Checked value must be of type ${type} ${known} in ${path}`;
  return [{ reason: 'FieldValueInvalid', field: '<nil>', message }];
}

const inInt32 = (value: number): boolean => value >= -(2 ** 31) && value < 2 ** 31;
const inInt64 = (value: number): boolean => value >= -(2 ** 63) && value < 2 ** 63;

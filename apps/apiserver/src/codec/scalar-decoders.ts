import { canonicalQuantity, quantityFormatError } from '@tinkernetes/apimachinery';
import type { Decode } from './decode-state';
import { jsonTypeOf, TypeMismatchError } from './decode-state';
import { schemaOrArray, schemaOrBool, schemaOrStringArray } from './union-decoders';

const plain = (value: unknown, goType: string): TypeMismatchError =>
  new TypeMismatchError(`json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type ${goType}`);

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/** Go's message for a time that does not parse, as far as the first element that fails. */
function timeError(text: string, fraction = ''): TypeMismatchError {
  const layout = `2006-01-02T15:04:05${fraction}Z07:00`;
  const parts: [RegExp, string][] = [
    [/^\d{4}/, '2006'],
    [/^-/, '-'],
    [/^\d\d/, '01'],
    [/^-/, '-'],
    [/^\d\d/, '02'],
    [/^T/, 'T'],
    [/^\d\d/, '15'],
    [/^:/, ':'],
    [/^\d\d/, '04'],
    [/^:/, ':'],
    [/^\d\d/, '05'],
    [/^(\.\d+)?(Z|[+-]\d\d:\d\d)/, 'Z07:00'],
  ];
  let rest = text;
  for (const [pattern, element] of parts) {
    const match = pattern.exec(rest);
    if (!match) {
      return new TypeMismatchError(
        `parsing time ${JSON.stringify(text)} as "${layout}": cannot parse ${JSON.stringify(rest)} as "${element}"`,
      );
    }
    rest = rest.slice(match[0].length);
  }
  return new TypeMismatchError(
    rest
      ? `parsing time ${JSON.stringify(text)}: extra text: ${JSON.stringify(rest)}`
      : `parsing time ${JSON.stringify(text)}: day out of range`,
  );
}

const time: Decode = (value) => {
  if (typeof value !== 'string') throw plain(value, 'string');
  const ms = rfc3339.test(value) ? Date.parse(value) : NaN;
  if (Number.isNaN(ms)) throw timeError(value);
  return value.length === 20 && value.endsWith('Z') ? value : `${new Date(ms).toISOString().slice(0, 19)}Z`;
};

const microTime: Decode = (value) => {
  if (typeof value !== 'string') throw plain(value, 'string');
  const ms = rfc3339.test(value) ? Date.parse(value) : NaN;
  if (Number.isNaN(ms)) throw timeError(value, '.000000');
  const fraction = (/\.(\d+)/.exec(value)?.[1] ?? '').padEnd(6, '0').slice(0, 6);
  return `${new Date(ms).toISOString().slice(0, 19)}.${fraction}Z`;
};

const intOrString: Decode = (value) => {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number') throw plain(value, 'int32');
  if (!Number.isInteger(value) || Math.abs(value) > 2 ** 31) {
    throw new TypeMismatchError(`json: cannot unmarshal number ${String(value)} into Go value of type int32`);
  }
  return value;
};

const quantity: Decode = (value) => {
  if (typeof value !== 'string' && typeof value !== 'number')
    throw new TypeMismatchError(quantityFormatError);
  try {
    return canonicalQuantity(value);
  } catch (error) {
    throw Object.assign(new TypeMismatchError(error instanceof Error ? error.message : String(error)), {
      cause: error,
    });
  }
};

const anything: Decode = (value) => value;

/** Types with JSON forms of their own, by Go name. */
export const scalarDecoders: Readonly<Record<string, Decode | undefined>> = {
  Time: time,
  MicroTime: microTime,
  IntOrString: intOrString,
  Quantity: quantity,
  RawExtension: anything,
  FieldsV1: anything,
  JSON: anything,
  JSONSchemaPropsOrBool: schemaOrBool,
  JSONSchemaPropsOrArray: schemaOrArray,
  JSONSchemaPropsOrStringArray: schemaOrStringArray,
};

/** What null stands for in a list or map of these. */
export const zeroScalars: Readonly<Record<string, unknown>> = {
  Time: null,
  MicroTime: null,
  IntOrString: 0,
  Quantity: '0',
  RawExtension: null,
  FieldsV1: null,
  JSON: null,
};

import type { IntOrString } from '@tinkernetes/api';
import { invalid, isPercent } from '@tinkernetes/apimachinery';
import { notNegative } from './rules';
import type { Errors } from './rules';

/** A count or a percentage. Source: apps/validation.ValidatePositiveIntOrPercent. */
export function positiveIntOrPercent(path: string, value: IntOrString | undefined): Errors {
  if (typeof value === 'string') return isPercent(value).map((text) => invalid(path, value, text));
  return notNegative(path, value);
}

/** No more than 100 %. */
export function notMoreThanAll(path: string, value: IntOrString | undefined): Errors {
  const percent = percentOf(value);
  return percent !== undefined && percent > 100
    ? [invalid(path, value, 'must not be greater than 100%')]
    : [];
}

export function percentOf(value: IntOrString | undefined): number | undefined {
  return typeof value === 'string' && /^[0-9]+%$/.test(value) ? Number(value.slice(0, -1)) : undefined;
}

/** The number meant, percentages as they are: only for comparisons with zero. */
export const intOrPercentValue = (value: IntOrString | undefined): number =>
  typeof value === 'number' ? value : (percentOf(value) ?? numberIn(value ?? ''));

/** A string that only holds a number counts as one; any other as none. */
const numberIn = (text: string): number => (/^[-+]?[0-9]+$/.test(text) ? Number(text) : 0);

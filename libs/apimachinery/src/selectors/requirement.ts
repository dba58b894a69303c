import { invalid, notSupported } from '../validation/field-error';
import type { FieldError } from '../validation/field-error';
import { isLabelValue, isQualifiedName } from '../validation/names';

export type LabelOperator = 'in' | 'notin' | '=' | '==' | '!=' | 'exists' | '!' | 'gt' | 'lt';
export type Labels = Readonly<Record<string, string>>;

/** One condition on a set of labels. Values are sorted and without duplicates. */
export interface Requirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
}

const operators: readonly LabelOperator[] = ['in', 'notin', '=', '==', '!=', 'exists', '!', 'gt', 'lt'];

/** Go's aggregate of errors: one as it is, several in brackets, each text once. */
export function aggregate(errors: readonly FieldError[]): string {
  const texts = [...new Set(errors.map((error) => `${error.field}: ${error.message}`))];
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
}

/** Throws an Error with upstream's text when key, operator and values don't fit. */
export function newRequirement(
  key: string,
  operator: LabelOperator,
  values: readonly string[],
  path = '',
): Requirement {
  const own = path === '' ? '<nil>' : path;
  const valuesPath = path === '' ? 'values' : `${path}.values`;
  const errors: FieldError[] = keyErrors(key, path);
  const wrongCount = countError(operator, values.length);
  if (wrongCount) errors.push(invalid(valuesPath, values, wrongCount));
  if (operator === 'gt' || operator === 'lt') {
    values.forEach((value, i) => {
      if (!isInt64(value)) {
        errors.push(
          invalid(`${valuesPath}[${i}]`, value, "for 'Gt', 'Lt' operators, the value must be an integer"),
        );
      }
    });
  }
  if (!operators.includes(operator)) errors.push(notSupported(`${own}.operator`, operator, operators));
  values.forEach((value, i) => {
    const problems = isLabelValue(value);
    if (problems.length > 0) errors.push(invalid(`${valuesPath}[${i}][${key}]`, value, problems.join('; ')));
  });
  if (errors.length > 0) throw new Error(aggregate(errors));
  return { key, operator, values: [...new Set(values)].sort() };
}

export function keyErrors(key: string, path = ''): FieldError[] {
  const problems = isQualifiedName(key);
  return problems.length > 0 ? [invalid(path === '' ? '<nil>' : path, key, problems.join('; '))] : [];
}

function countError(operator: LabelOperator, count: number): string | undefined {
  switch (operator) {
    case 'in':
    case 'notin':
      return count === 0 ? "for 'in', 'notin' operators, values set can't be empty" : undefined;
    case '=':
    case '==':
    case '!=':
      return count === 1 ? undefined : 'exact-match compatibility requires one single value';
    case 'exists':
    case '!':
      return count === 0 ? undefined : 'values set must be empty for exists and does not exist';
    case 'gt':
    case 'lt':
      return count === 1 ? undefined : "for 'Gt', 'Lt' operators, exactly one value is required";
  }
}

export const isInt64 = (text: string): boolean => {
  if (!/^[-+]?[0-9]+$/.test(text)) return false;
  const value = BigInt(text.replace('+', ''));
  return value >= -(1n << 63n) && value < 1n << 63n;
};

/** Whether the labels fulfil the requirement. */
export function requirementMatches(requirement: Requirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined;
  switch (requirement.operator) {
    case 'in':
    case '=':
    case '==':
      return value !== undefined && requirement.values.includes(value);
    case 'notin':
    case '!=':
      return value === undefined || !requirement.values.includes(value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case 'gt':
    case 'lt':
      return value !== undefined && isInt64(value) && compareIntegers(value, requirement);
  }
}

function compareIntegers(value: string, { operator, values }: Requirement): boolean {
  const [bound] = values;
  if (bound === undefined) return false;
  const [left, right] = [BigInt(value.replace('+', '')), BigInt(bound.replace('+', ''))];
  return operator === 'gt' ? left > right : left < right;
}

/** The text form, as `labels.Requirement.String`. */
export function formatRequirement({ key, operator, values }: Requirement): string {
  switch (operator) {
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${values.join(',')})`;
    case 'gt':
      return `${key}>${values.join(',')}`;
    case 'lt':
      return `${key}<${values.join(',')}`;
    default:
      return `${key}${operator}${values.join(',')}`;
  }
}

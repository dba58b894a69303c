import type { ValidationRule } from '@tinkernetes/api';
import { child, index, invalid, notSupported, required } from '@tinkernetes/apimachinery';
import type { FieldError } from '../../contracts';
import type { Schema } from '../structural-schema';
import { FieldPathError, followFieldPath } from './field-path';
import { unreadable } from './unsupported-fields';

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

const hasNewlines = (text: string): boolean => /[\n\r]/.test(text);
const isBlank = (text: string): boolean => text.trim() === '';

/** What is wrong with the rules of one place of a schema, beside their expressions. */
export const ruleDeclarationErrors = (schema: Schema, path: string): FieldError[] =>
  (schema['x-kubernetes-validations'] ?? []).flatMap((rule, i) => {
    const at = index(child(path, 'x-kubernetes-validations'), i);
    return [...textErrors(rule, at), ...placeErrors(rule, schema, at)];
  });

function textErrors(
  { rule = '', message = '', messageExpression = '', reason }: ValidationRule,
  at: string,
): FieldError[] {
  const errors: FieldError[] = [];
  const isUnnamed = isBlank(message);
  if (isBlank(rule)) errors.push(required(child(at, 'rule'), 'rule is not specified'));
  else if (message !== '' && isUnnamed) {
    errors.push(invalid(child(at, 'message'), message, 'must be non-empty if specified'));
  } else if (hasNewlines(message.trim())) {
    errors.push(invalid(child(at, 'message'), message, 'must not contain line breaks'));
  } else if (hasNewlines(rule.trim()) && isUnnamed) {
    const detail = 'message must be specified if rule contains line breaks';
    errors.push(required(child(at, 'message'), detail));
  }
  if (messageExpression !== '' && isBlank(messageExpression)) {
    const detail = 'messageExpression must be non-empty if specified';
    errors.push(required(child(at, 'messageExpression'), detail));
  }
  if (reason !== undefined && !reasons.includes(reason)) {
    errors.push(notSupported(child(at, 'reason'), reason, reasons));
  }
  return errors;
}

function placeErrors({ fieldPath = '' }: ValidationRule, schema: Schema, rulePath: string): FieldError[] {
  if (fieldPath === '') return [];
  const at = child(rulePath, 'fieldPath');
  const errors: FieldError[] = [];
  if (isBlank(fieldPath)) errors.push(invalid(at, fieldPath, 'must be non-empty if specified'));
  if (hasNewlines(fieldPath)) errors.push(invalid(at, fieldPath, 'must not contain line breaks'));
  if (!leadsSomewhere(fieldPath, schema)) errors.push(invalid(at, fieldPath, 'must be a valid path'));
  return errors;
}

function leadsSomewhere(fieldPath: string, schema: Schema): boolean {
  if (unreadable(schema) !== undefined) return true;
  try {
    followFieldPath(fieldPath, schema);
    return true;
  } catch (error) {
    if (error instanceof FieldPathError) return false;
    throw error;
  }
}

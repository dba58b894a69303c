import type { MatchCondition } from '@tinkernetes/api';
import { child, duplicate, invalid, isQualifiedName, required } from '@tinkernetes/apimachinery';
import { CelCompileError, CelEnvironment } from '@tinkernetes/cel';
import { check, eachOf } from '../rules';
import type { Errors } from '../rules';

/** What expressions of admission policies and webhooks can speak of. */
const environment = new CelEnvironment([
  'object',
  'oldObject',
  'request',
  'params',
  'namespaceObject',
  'authorizer',
  'variables',
]);

/** The expression must be there, and be CEL. */
export function validateExpression(
  expression: string | undefined,
  path: string,
  missing: string | undefined = 'expression is not specified',
): Errors {
  const text = (expression ?? '').trim();
  if (text === '') return [required(path, missing)];
  try {
    environment.compile(text);
    return [];
  } catch (error) {
    if (error instanceof CelCompileError) return [invalid(path, text, error.message)];
    throw error;
  }
}

/** Source: admissionregistration/validation.validateMatchConditions. */
export function validateMatchConditions(
  conditions: readonly MatchCondition[] | undefined,
  path: string,
): Errors {
  const names = new Set<string>();
  return eachOf(path, conditions, ({ name, expression }, at) => {
    const isDuplicate = names.has(name);
    names.add(name);
    return [
      ...(name ? check(child(at, 'name'), name, isQualifiedName) : [required(child(at, 'name'))]),
      ...(isDuplicate ? [duplicate(child(at, 'name'), name)] : []),
      ...validateExpression(expression, child(at, 'expression'), ''),
    ];
  });
}

import type {
  AuditAnnotation,
  Mutation,
  ValidatingAdmissionPolicySpec,
  Validation,
  Variable,
} from '@tinkernetes/api';
import {
  child,
  duplicate,
  invalid,
  isQualifiedName,
  notSupported,
  required,
} from '@tinkernetes/apimachinery';
import { eachOf } from '../rules';
import type { Errors } from '../rules';
import { typeOfExpression, validateExpression, type Scope } from './expressions';

const celIdentifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/;

/** What the expressions of a policy may speak of: variables only of those before them. */
export function scopeOf(hasParams: boolean, variables: readonly Variable[] = []): Scope {
  let scope: Scope = { hasParams };
  if (variables.length === 0) return scope;
  scope = { ...scope, variables: {} };
  for (const { name, expression } of variables) {
    const type = typeOfExpression(expression ?? '', scope);
    scope = { ...scope, variables: { ...scope.variables, [name]: type } };
  }
  return scope;
}

export const validateVariables = (variables: readonly Variable[] | undefined, hasParams: boolean): Errors =>
  eachOf('spec.variables', variables, ({ name, expression }, at, i) => [
    ...(name
      ? celIdentifier.test(name)
        ? []
        : [invalid(child(at, 'name'), name, 'must be a valid CEL identifier')]
      : [required(child(at, 'name'), 'name is not specified')]),
    ...validateExpression(expression, child(at, 'expression'), {
      ...scopeOf(hasParams, variables?.slice(0, i)),
      ...(i === 0 ? { variables: {} } : {}),
    }),
  ]);

/** Their keys become those of audit events, with the policy's name before them. */
function validateAudit(
  annotations: readonly AuditAnnotation[] | undefined,
  policy: string,
  scope: Scope,
): Errors {
  const list = annotations ?? [];
  return eachOf('spec.auditAnnotations', list, ({ key = '', valueExpression }, at, i) => {
    const keyPath = child(at, 'key');
    const valuePath = child(at, 'valueExpression');
    const full = `${policy}/${key}`;
    return [
      ...(policy === ''
        ? [invalid(keyPath, key, 'requires metadata.name be non-empty')]
        : isQualifiedName(full).map((text) => invalid(keyPath, full, text))),
      ...validateExpression(valueExpression, valuePath, scope, {
        types: ['string', 'null_type'],
        missing: 'valueExpression is not specified',
      }),
      ...(list.findIndex((other) => other.key === key) < i ? [duplicate(keyPath, key)] : []),
    ];
  });
}

const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];

const validateValidation = (
  { expression, message, messageExpression, reason }: Validation,
  at: string,
  scope: Scope,
): Errors => [
  ...validateExpression(expression, child(at, 'expression'), scope, { types: ['bool'] }),
  ...(messageExpression === undefined || messageExpression === ''
    ? []
    : validateExpression(
        messageExpression,
        child(at, 'messageExpression'),
        { ...scope, hasAuthorizer: false },
        { types: ['string'] },
      )),
  ...(message !== undefined && /[\n\r]/.test(message)
    ? [invalid(child(at, 'message'), message, 'must not contain line breaks')]
    : []),
  ...(reason === undefined || reasons.includes(reason)
    ? []
    : [notSupported(child(at, 'reason'), reason, reasons)]),
];

export function validatePolicyExpressions(
  spec: ValidatingAdmissionPolicySpec | undefined,
  policy: string,
): Errors {
  const hasParams = spec?.paramKind !== undefined;
  const scope = scopeOf(hasParams, spec?.variables);
  return [
    ...eachOf('spec.validations', spec?.validations, (validation, at) =>
      validateValidation(validation, at, scope),
    ),
    ...validateVariables(spec?.variables, hasParams),
    ...validateAudit(spec?.auditAnnotations, policy, scope),
  ];
}

/** Source: admissionregistration/validation.validateMutation. */
export function validateMutation(mutation: Mutation, path: string, scope: Scope): Errors {
  const type: string = mutation.patchType ?? '';
  const parts = { ApplyConfiguration: 'applyConfiguration', JSONPatch: 'jsonPatch' } as const;
  if (type === '') return [required(child(path, 'patchType'))];
  if (type !== 'ApplyConfiguration' && type !== 'JSONPatch')
    return [notSupported(child(path, 'patchType'), type, Object.keys(parts))];
  const own = parts[type];
  const other = type === 'JSONPatch' ? parts.ApplyConfiguration : parts.JSONPatch;
  const detail = `must not be specified when patchType is ${type}`;
  return [
    ...(mutation[other] === undefined ? [] : [invalid(child(path, other), `{${other}}`, detail)]),
    ...(mutation[own] === undefined
      ? [required(child(path, own), `must be specified when patchType is ${type}`)]
      : validateExpression(
          mutation[own].expression,
          child(path, own, 'expression'),
          { variables: {}, ...scope, isMutation: true },
          {
            types: [type === 'JSONPatch' ? 'list(JSONPatch)' : 'Object'],
            isExact: true,
            missing: '',
          },
        )),
  ];
}

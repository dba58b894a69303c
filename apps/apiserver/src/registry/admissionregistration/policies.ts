import {
  MutatingAdmissionPolicies,
  MutatingAdmissionPolicyBindings,
  ValidatingAdmissionPolicies,
  ValidatingAdmissionPolicyBindings,
} from '@tinkernetes/api';
import type {
  AuditAnnotation,
  MatchResources,
  Mutation,
  ParamKind,
  ParamRef,
  ValidatingAdmissionPolicySpec,
  Validation,
  Variable,
} from '@tinkernetes/api';
import {
  child,
  duplicate,
  forbidden,
  invalid,
  isDns1035Label,
  isDns1123Subdomain,
  isPathSegmentName,
  isQualifiedName,
  notSupported,
  required,
} from '@tinkernetes/apimachinery';
import { age } from '../../printers/cells';
import { defineStrategy } from '../define-strategy';
import { fill, mapMember } from '../fill';
import { validateLabelSelector } from '../pod-spec/label-selectors';
import { check, eachOf, oneOf, requireName, requireOneOf } from '../rules';
import type { Errors } from '../rules';
import { typeOfExpression, validateExpression, validateMatchConditions, type Scope } from './expressions';
import { defaultMatchResources, validateMatchResources } from './rules';

function validateConstraints(match: MatchResources | undefined): Errors {
  const path = 'spec.matchConstraints';
  if (!match) return [required(path)];
  return [
    ...(match.resourceRules?.length ? [] : [required(child(path, 'resourceRules'))]),
    ...validateMatchResources(match, path),
  ];
}

/** Source: admissionregistration/validation.validateParamKind. */
function validateParamKind(param: ParamKind | undefined): Errors {
  if (!param) return [];
  const { apiVersion = '', kind = '' } = param;
  const path = 'spec.paramKind';
  const versionPath = child(path, 'apiVersion');
  const kindPath = child(path, 'kind');
  const parts = apiVersion.split('/');
  const version = parts.at(-1) ?? '';
  return [
    ...(apiVersion === ''
      ? [required(versionPath)]
      : parts.length > 2
        ? [invalid(versionPath, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)]
        : [
            ...isDns1035Label(version).map((text) => invalid(versionPath, version, text)),
            ...(parts.length > 1 && parts[0] ? check(versionPath, parts[0], isDns1123Subdomain) : []),
          ]),
    ...(kind === ''
      ? [required(kindPath)]
      : isDns1035Label(kind.toLowerCase()).map((text) =>
          invalid(kindPath, kind, `may have mixed case, but should otherwise match: ${text}`),
        )),
  ];
}

/** Source: admissionregistration/validation.validateParamRef. */
function validateParamRef(ref: ParamRef | undefined): Errors {
  if (!ref) return [];
  const path = 'spec.paramRef';
  const errors: Errors = [];
  if (ref.name) errors.push(...check(child(path, 'name'), ref.name, isPathSegmentName));
  if (ref.name && ref.selector) {
    const detail = 'name and selector are mutually exclusive';
    errors.push(forbidden(child(path, 'name'), detail), forbidden(child(path, 'selector'), detail));
  }
  errors.push(...validateLabelSelector(ref.selector, child(path, 'selector')));
  if (!ref.name && !ref.selector) errors.push(required(path, 'one of name or selector must be specified'));
  const at = child(path, 'parameterNotFoundAction');
  return [...errors, ...requireOneOf(at, ref.parameterNotFoundAction, ['Deny', 'Allow'])];
}

const celIdentifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/;

/** What the expressions of a policy may speak of: variables only of those before them. */
function scopeOf(hasParams: boolean, variables: readonly Variable[] = []): Scope {
  let scope: Scope = { hasParams };
  if (variables.length === 0) return scope;
  scope = { ...scope, variables: {} };
  for (const { name, expression } of variables) {
    const type = typeOfExpression(expression ?? '', scope);
    scope = { ...scope, variables: { ...scope.variables, [name]: type } };
  }
  return scope;
}

const validateVariables = (variables: readonly Variable[] | undefined, hasParams: boolean): Errors =>
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

/** Nothing is left to change of what is deleted. */
const mutatesNone = ({ operations }: { readonly operations?: readonly string[] }): Errors =>
  operations?.includes('DELETE')
    ? [
        notSupported('spec.matchConstraints.resourceRules.operations', 'DELETE', [
          '*',
          'CONNECT',
          'CREATE',
          'UPDATE',
        ]),
      ]
    : [];

function validatePolicyExpressions(spec: ValidatingAdmissionPolicySpec | undefined, policy: string): Errors {
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
function validateMutation(mutation: Mutation, path: string, scope: Scope): Errors {
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

const kindText = (kind: ParamKind | undefined): string =>
  kind ? `${kind.apiVersion}/${kind.kind}` : '<unset>';
function refText(ref: ParamRef | undefined): string {
  if (!ref) return '<unset>';
  if (ref.name) return ref.namespace ? `${ref.namespace}/${ref.name}` : `*/${ref.name}`;
  return ref.selector ? '*' : '<unset>';
}
const denyAndWarn =
  'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
const failurePolicies = ['Fail', 'Ignore'];

/** Source: k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicy. */
export const validatingAdmissionPolicyStrategy = defineStrategy(ValidatingAdmissionPolicies, {
  keptByStatus: 'all',
  allowUnconditionalUpdate: false,
  default: (policy) =>
    mapMember(policy, 'spec', (spec) =>
      fill(mapMember(spec, 'matchConstraints', defaultMatchResources), { failurePolicy: 'Fail' }),
    ),
  validate: ({ metadata, spec }) => [
    ...oneOf('spec.failurePolicy', spec?.failurePolicy, failurePolicies),
    ...validateParamKind(spec?.paramKind),
    ...validateConstraints(spec?.matchConstraints),
    ...(spec?.validations?.length || spec?.auditAnnotations?.length
      ? []
      : [
          required('spec.validations', 'validations or auditAnnotations must contain at least one item'),
          required('spec.auditAnnotations', 'validations or auditAnnotations must contain at least one item'),
        ]),
    ...validatePolicyExpressions(spec, metadata.name),
    ...validateMatchConditions(spec?.matchConditions, 'spec.matchConditions', {
      hasParams: spec?.paramKind !== undefined,
    }),
  ],
  tableCells: (policy, now) => [
    policy.metadata.name,
    policy.spec?.validations?.length ?? 0,
    kindText(policy.spec?.paramKind),
    age(policy, now),
  ],
});

/** Source: k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicybinding. */
export const validatingAdmissionPolicyBindingStrategy = defineStrategy(ValidatingAdmissionPolicyBindings, {
  allowUnconditionalUpdate: false,
  hasGeneration: true,
  default: (binding) =>
    mapMember(binding, 'spec', (spec) => mapMember(spec, 'matchResources', defaultMatchResources)),
  validate: ({ spec }) => [
    ...requireName('spec.policyName', spec?.policyName, isDns1123Subdomain),
    ...validateParamRef(spec?.paramRef),
    ...validateMatchResources(spec?.matchResources, 'spec.matchResources'),
    ...(spec?.validationActions?.length
      ? []
      : [required('spec.validationActions', 'at least one validation action is required')]),
    ...eachOf('spec.validationActions', spec?.validationActions, (action, at, i) => [
      ...oneOf(at, action, ['Audit', 'Deny', 'Warn']),
      ...((spec?.validationActions?.indexOf(action) ?? i) < i ? [duplicate(at, action)] : []),
    ]),
    ...((['Deny', 'Warn'] as const).every((action) => spec?.validationActions?.includes(action))
      ? [invalid('spec.validationActions', spec?.validationActions, denyAndWarn)]
      : []),
  ],
  tableCells: (binding, now) => [
    binding.metadata.name,
    binding.spec?.policyName ?? '',
    refText(binding.spec?.paramRef),
    age(binding, now),
  ],
});

/** Source: KEP-3962; k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicy. */
export const mutatingAdmissionPolicyStrategy = defineStrategy(MutatingAdmissionPolicies, {
  allowUnconditionalUpdate: false,
  hasGeneration: true,
  default: (policy) =>
    mapMember(policy, 'spec', (spec) =>
      fill(mapMember(spec, 'matchConstraints', defaultMatchResources), {
        failurePolicy: 'Fail',
      }),
    ),
  validate: ({ spec }) => [
    ...oneOf('spec.failurePolicy', spec?.failurePolicy, failurePolicies),
    ...validateParamKind(spec?.paramKind),
    ...validateConstraints(spec?.matchConstraints),
    ...(spec?.matchConstraints?.resourceRules ?? []).flatMap(mutatesNone),
    ...(spec?.mutations?.length
      ? []
      : [required('spec.mutations', 'mutations must contain at least one item')]),
    ...eachOf('spec.mutations', spec?.mutations, (mutation, at) =>
      validateMutation(mutation, at, scopeOf(spec?.paramKind !== undefined, spec?.variables)),
    ),
    ...validateVariables(spec?.variables, spec?.paramKind !== undefined),
    ...requireOneOf('spec.reinvocationPolicy', spec?.reinvocationPolicy, ['IfNeeded', 'Never']),
    ...validateMatchConditions(spec?.matchConditions, 'spec.matchConditions', {
      hasParams: spec?.paramKind !== undefined,
    }),
  ],
  tableCells: (policy, now) => [
    policy.metadata.name,
    policy.spec?.mutations?.length ?? 0,
    kindText(policy.spec?.paramKind),
    age(policy, now),
  ],
});

export const mutatingAdmissionPolicyBindingStrategy = defineStrategy(MutatingAdmissionPolicyBindings, {
  allowUnconditionalUpdate: false,
  hasGeneration: true,
  default: (binding) =>
    mapMember(binding, 'spec', (spec) => mapMember(spec, 'matchResources', defaultMatchResources)),
  validate: ({ spec }) => [
    ...requireName('spec.policyName', spec?.policyName, isDns1123Subdomain),
    ...validateParamRef(spec?.paramRef),
    ...validateMatchResources(spec?.matchResources, 'spec.matchResources'),
  ],
  tableCells: (binding, now) => [
    binding.metadata.name,
    binding.spec?.policyName ?? '',
    refText(binding.spec?.paramRef),
    age(binding, now),
  ],
});

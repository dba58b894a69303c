import {
  MutatingAdmissionPolicies,
  MutatingAdmissionPolicyBindings,
  ValidatingAdmissionPolicies,
  ValidatingAdmissionPolicyBindings,
} from '@tinkernetes/api';
import type { MatchResources, ParamKind, ParamRef } from '@tinkernetes/api';
import { child, required } from '@tinkernetes/apimachinery';
import { age } from '../../printers/cells';
import { defineStrategy } from '../define-strategy';
import { fill, mapMember } from '../fill';
import { eachOf, oneOf, requireValue } from '../rules';
import type { Errors } from '../rules';
import { validateExpression, validateMatchConditions } from './expressions';
import { defaultMatchResources, validateRule } from './rules';

function validateConstraints(match: MatchResources | undefined): Errors {
  const path = 'spec.matchConstraints';
  if (!match) return [required(path)];
  const rules = child(path, 'resourceRules');
  return match.resourceRules?.length
    ? eachOf(rules, match.resourceRules, (rule, at) => validateRule(rule, at))
    : [required(rules)];
}

const kindText = (kind: ParamKind | undefined): string =>
  kind ? `${kind.apiVersion}/${kind.kind}` : '<unset>';
function refText(ref: ParamRef | undefined): string {
  if (!ref) return '<unset>';
  if (ref.name) return ref.namespace ? `${ref.namespace}/${ref.name}` : `*/${ref.name}`;
  return ref.selector ? '*' : '<unset>';
}
const failurePolicies = ['Fail', 'Ignore'];

/** Source: k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicy. */
export const validatingAdmissionPolicyStrategy = defineStrategy(ValidatingAdmissionPolicies, {
  default: (policy) =>
    mapMember(policy, 'spec', (spec) =>
      fill(mapMember(spec, 'matchConstraints', defaultMatchResources), { failurePolicy: 'Fail' }),
    ),
  validate: ({ spec }) => [
    ...oneOf('spec.failurePolicy', spec?.failurePolicy, failurePolicies),
    ...validateConstraints(spec?.matchConstraints),
    ...(spec?.validations?.length || spec?.auditAnnotations?.length
      ? []
      : [
          required('spec.validations', 'validations or auditAnnotations must contain at least one item'),
          required('spec.auditAnnotations', 'validations or auditAnnotations must contain at least one item'),
        ]),
    ...eachOf('spec.validations', spec?.validations, ({ expression }, at) =>
      validateExpression(expression, child(at, 'expression')),
    ),
    ...eachOf('spec.variables', spec?.variables, ({ expression }, at) =>
      validateExpression(expression, child(at, 'expression')),
    ),
    ...validateMatchConditions(spec?.matchConditions, 'spec.matchConditions'),
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
  hasGeneration: true,
  default: (binding) =>
    mapMember(binding, 'spec', (spec) => mapMember(spec, 'matchResources', defaultMatchResources)),
  validate: ({ spec }) => [
    ...requireValue('spec.policyName', spec?.policyName),
    ...(spec?.validationActions?.length
      ? []
      : [required('spec.validationActions', 'at least one validation action is required')]),
    ...eachOf('spec.validationActions', spec?.validationActions, (action, at) =>
      oneOf(at, action, ['Audit', 'Deny', 'Warn']),
    ),
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
  hasGeneration: true,
  default: (policy) =>
    mapMember(policy, 'spec', (spec) =>
      fill(mapMember(spec, 'matchConstraints', defaultMatchResources), {
        failurePolicy: 'Fail',
        reinvocationPolicy: 'Never',
      }),
    ),
  validate: ({ spec }) => [
    ...oneOf('spec.failurePolicy', spec?.failurePolicy, failurePolicies),
    ...validateConstraints(spec?.matchConstraints),
    ...(spec?.mutations?.length
      ? []
      : [required('spec.mutations', 'mutations must contain at least one item')]),
    ...oneOf('spec.reinvocationPolicy', spec?.reinvocationPolicy, ['IfNeeded', 'Never']),
    ...validateMatchConditions(spec?.matchConditions, 'spec.matchConditions'),
  ],
  tableCells: (policy, now) => [
    policy.metadata.name,
    policy.spec?.mutations?.length ?? 0,
    kindText(policy.spec?.paramKind),
    age(policy, now),
  ],
});

export const mutatingAdmissionPolicyBindingStrategy = defineStrategy(MutatingAdmissionPolicyBindings, {
  hasGeneration: true,
  default: (binding) =>
    mapMember(binding, 'spec', (spec) => mapMember(spec, 'matchResources', defaultMatchResources)),
  validate: ({ spec }) => requireValue('spec.policyName', spec?.policyName),
  tableCells: (binding, now) => [
    binding.metadata.name,
    binding.spec?.policyName ?? '',
    refText(binding.spec?.paramRef),
    age(binding, now),
  ],
});

import { MutatingAdmissionPolicies, ValidatingAdmissionPolicies } from '@tinkernetes/api';
import type { MatchResources } from '@tinkernetes/api';
import { child, notSupported, required } from '@tinkernetes/apimachinery';
import { age } from '../../printers/cells';
import { defineStrategy } from '../define-strategy';
import { fill, mapMember } from '../fill';
import { eachOf, oneOf, requireOneOf } from '../rules';
import type { Errors } from '../rules';
import { validateMatchConditions } from './expressions';
import { defaultMatchResources, validateMatchResources } from './rules';
import {
  scopeOf,
  validateMutation,
  validatePolicyExpressions,
  validateVariables,
} from './policy-expressions';
import { kindText, validateParamKind } from './param-rules';

function validateConstraints(match: MatchResources | undefined): Errors {
  const path = 'spec.matchConstraints';
  if (!match) return [required(path)];
  return [
    ...(match.resourceRules?.length ? [] : [required(child(path, 'resourceRules'))]),
    ...validateMatchResources(match, path),
  ];
}

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

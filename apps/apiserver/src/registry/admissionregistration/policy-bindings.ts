import { MutatingAdmissionPolicyBindings, ValidatingAdmissionPolicyBindings } from '@tinkernetes/api';
import { duplicate, invalid, isDns1123Subdomain, required } from '@tinkernetes/apimachinery';
import { age } from '../../printers/cells';
import { defineStrategy } from '../define-strategy';
import { mapMember } from '../fill';
import { eachOf, oneOf, requireName } from '../rules';
import { defaultMatchResources, validateMatchResources } from './rules';
import { refText, validateParamRef } from './param-rules';

const denyAndWarn =
  'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';

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

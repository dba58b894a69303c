import { ClusterRoles, Roles } from '@tinkernetes/api';
import type { AggregationRule, PolicyRule } from '@tinkernetes/api';
import { child, invalid, isPathSegmentName, required } from '@tinkernetes/apimachinery';
import { defineStrategy } from '../../define-strategy';
import { validateLabelSelector } from '../../pod-spec/label-selectors';
import { eachOf } from '../../rules';
import type { Errors } from '../../rules';

/** Source: rbac/validation.ValidatePolicyRule. */
function validateRule(rule: PolicyRule, path: string, isNamespaced: boolean): Errors {
  const errors: Errors = [];
  if (!rule.verbs?.length)
    errors.push(required(child(path, 'verbs'), 'verbs must contain at least one value'));
  if (rule.nonResourceURLs?.length) {
    const at = child(path, 'nonResourceURLs');
    if (isNamespaced) {
      errors.push(invalid(at, rule.nonResourceURLs, 'namespaced rules cannot apply to non-resource URLs'));
    }
    if (rule.apiGroups?.length || rule.resources?.length || rule.resourceNames?.length) {
      errors.push(
        invalid(
          at,
          rule.nonResourceURLs,
          'rules cannot apply to both regular resources and non-resource URLs',
        ),
      );
    }
    return errors;
  }
  if (!rule.apiGroups?.length) {
    errors.push(required(child(path, 'apiGroups'), 'resource rules must supply at least one api group'));
  }
  if (!rule.resources?.length) {
    errors.push(required(child(path, 'resources'), 'resource rules must supply at least one resource'));
  }
  return errors;
}

function validateAggregation({ clusterRoleSelectors }: AggregationRule): Errors {
  const path = 'aggregationRule.clusterRoleSelectors';
  if (!clusterRoleSelectors?.length)
    return [required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil')];
  return eachOf(path, clusterRoleSelectors, (selector, at) => {
    const errors = validateLabelSelector(selector, at);
    return errors.length === 0 ? errors : [...errors, invalid(at, null, 'invalid label selector.')];
  });
}

export const roleStrategy = defineStrategy(Roles, {
  allowCreateOnUpdate: true,
  nameCheck: isPathSegmentName,
  validate: (role) => eachOf('rules', role.rules, (rule, at) => validateRule(rule, at, true)),
});

export const clusterRoleStrategy = defineStrategy(ClusterRoles, {
  allowCreateOnUpdate: true,
  nameCheck: isPathSegmentName,
  validate: (role) => [
    ...eachOf('rules', role.rules, (rule, at) => validateRule(rule, at, false)),
    ...(role.aggregationRule ? validateAggregation(role.aggregationRule) : []),
  ],
});

import type { LabelSelector, MatchResources, RuleWithOperations } from '@tinkernetes/api';
import { child, invalid, required } from '@tinkernetes/apimachinery';
import { fill, mapList, mapMember } from '../fill';
import { eachOf, oneOf } from '../rules';
import type { Errors } from '../rules';

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];

export const defaultRules = <R extends Pick<RuleWithOperations, 'scope'>>(rules: R[]): R[] =>
  mapList(rules, (rule) => (rule.scope ? rule : { ...rule, scope: '*' as const }));

/** Selectors that are not given select everything. */
export const defaultMatchResources = (match: MatchResources): MatchResources => {
  const withRules = mapMember(
    mapMember(match, 'resourceRules', defaultRules),
    'excludeResourceRules',
    defaultRules,
  );
  const everything: LabelSelector = {};
  return fill(withRules, {
    matchPolicy: 'Equivalent',
    namespaceSelector: everything,
    objectSelector: everything,
  });
};

function wildcards(path: string, values: readonly string[] | undefined, what: string): Errors {
  if (!values?.length) return [required(path)];
  return values.includes('*') && values.length > 1
    ? [invalid(path, values, `if '*' is present, must not specify other ${what}`)]
    : [];
}

/** `pods`, `pods/*`, `*` and so on, none of them covered by another. */
function validateResources(path: string, values: readonly string[] | undefined): Errors {
  if (!values?.length) return [required(path)];
  const others = values.length > 1;
  if (values.includes('*/*') && others) {
    return [invalid(path, values, "if '*/*' is present, must not specify other resources")];
  }
  const hasSubresource = values.some((value) => value.includes('/'));
  if (values.includes('*') && others && !hasSubresource) {
    return [
      invalid(path, values, "if '*' is present, must not specify other resources without subresources"),
    ];
  }
  return [];
}

/** Source: admissionregistration/validation.validateRuleWithOperations. */
export function validateRule(rule: RuleWithOperations, path: string): Errors {
  return [
    ...wildcards(child(path, 'apiGroups'), rule.apiGroups, 'API groups'),
    ...wildcards(child(path, 'apiVersions'), rule.apiVersions, 'API versions'),
    ...validateResources(child(path, 'resources'), rule.resources),
    ...wildcards(child(path, 'operations'), rule.operations, 'operations'),
    ...eachOf(child(path, 'operations'), rule.operations, (operation, at) =>
      oneOf(at, operation, operations),
    ),
    ...oneOf(child(path, 'scope'), rule.scope, ['*', 'Cluster', 'Namespaced']),
  ];
}

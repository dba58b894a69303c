import type { PolicyRule } from '@tinkernetes/api';
import type { AuthorizationAttributes } from '../contracts';

const has = (list: readonly string[] | undefined, value: string): boolean =>
  list !== undefined && (list.includes('*') || list.includes(value));

/** Whether one rule allows the request. Source: k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac.RuleAllows. */
export function ruleAllows(rule: PolicyRule, a: AuthorizationAttributes): boolean {
  if (!has(rule.verbs, a.verb)) return false;
  if (!a.isResourceRequest) return nonResourceMatches(rule.nonResourceURLs ?? [], a.path);
  return (
    has(rule.apiGroups, a.apiGroup) &&
    resourceMatches(rule.resources ?? [], a.resource, a.subresource) &&
    (!rule.resourceNames?.length || rule.resourceNames.includes(a.name))
  );
}

export function resourceMatches(rules: readonly string[], resource: string, subresource: string): boolean {
  const combined = subresource ? `${resource}/${subresource}` : resource;
  return rules.some(
    (rule) => rule === '*' || rule === combined || (subresource !== '' && rule === `*/${subresource}`),
  );
}

function nonResourceMatches(rules: readonly string[], path: string): boolean {
  return rules.some(
    (rule) =>
      rule === '*' || rule === path || (rule.endsWith('*') && path.startsWith(rule.replace(/\*+$/, ''))),
  );
}

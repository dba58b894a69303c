import type {
  LabelSelector,
  MatchResources,
  NamedRuleWithOperations,
  RuleWithOperations,
} from '@tinkernetes/api';
import { child, duplicate, invalid, isPathSegmentName, required } from '@tinkernetes/apimachinery';
import { fill, mapList, mapMember } from '../fill';
import { validateLabelSelector } from '../pod-spec/label-selectors';
import { check, eachOf, oneOf } from '../rules';
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
  // The core group's name is empty; nothing else may be.
  const empty = what === 'API versions' ? emptyOnes(path, values) : [];
  if (empty.length > 0) return empty;
  return values.includes('*') && values.length > 1
    ? [invalid(path, values, `if '*' is present, must not specify other ${what}`)]
    : [];
}

const emptyOnes = (path: string, values: readonly string[]): Errors =>
  eachOf(path, values, (value, at) => (value === '' ? [required(at)] : []));

/** `pods`, `pods/*`, `*` and so on, none of them covered by another. */
function validateResources(path: string, values: readonly string[] | undefined): Errors {
  if (!values?.length) return [required(path)];
  const empty = emptyOnes(path, values);
  if (empty.length > 0) return empty;
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

/** Source: admissionregistration/validation.validateMatchResources. */
export function validateMatchResources(match: MatchResources | undefined, path: string): Errors {
  if (!match) return [];
  const rules = (name: 'resourceRules' | 'excludeResourceRules'): Errors =>
    eachOf(child(path, name), match[name], validateNamedRule);
  return [
    ...oneOf(child(path, 'matchPolicy'), match.matchPolicy, ['Equivalent', 'Exact']),
    ...validateLabelSelector(match.namespaceSelector, child(path, 'namespaceSelector')),
    ...validateLabelSelector(match.objectSelector, child(path, 'objectSelector')),
    ...rules('resourceRules'),
    ...rules('excludeResourceRules'),
  ];
}

/** A rule that may name the objects. */
function validateNamedRule(rule: NamedRuleWithOperations, path: string): Errors {
  const names = rule.resourceNames ?? [];
  return [
    ...eachOf(child(path, 'resourceNames'), names, (name, at, i) => [
      ...check(at, name, isPathSegmentName),
      ...(names.indexOf(name) < i ? [duplicate(at, name)] : []),
    ]),
    ...validateRule(rule, path),
  ];
}

/** Source: admissionregistration/validation.validateRuleWithOperations. */
export function validateRule(rule: RuleWithOperations, path: string): Errors {
  return [
    ...wildcards(child(path, 'operations'), rule.operations, 'operations'),
    ...eachOf(child(path, 'operations'), rule.operations, (operation, at) =>
      oneOf(at, operation, operations),
    ),
    ...wildcards(child(path, 'apiGroups'), rule.apiGroups, 'API groups'),
    ...wildcards(child(path, 'apiVersions'), rule.apiVersions, 'API versions'),
    ...validateResources(child(path, 'resources'), rule.resources),
    ...oneOf(child(path, 'scope'), rule.scope, ['*', 'Cluster', 'Namespaced']),
  ];
}

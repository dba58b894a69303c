import { Namespaces } from '@tinkernetes/api';
import type { KubeObject, LabelSelector, NamedRuleWithOperations } from '@tinkernetes/api';
import { selectorOf } from '@tinkernetes/apimachinery';
import type { AdmissionAttributes, StoreRegistry } from '../../contracts';

export interface MatchCriteria {
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly rules: readonly NamedRuleWithOperations[];
  readonly excludeRules?: readonly NamedRuleWithOperations[];
}

const group = 'admissionregistration.k8s.io';

/** Whoever breaks all requests must stay repairable: policies and webhooks never see their own kinds. */
export const isExempt = (a: AdmissionAttributes): boolean => a.group === group;

/**
 * Whether a policy, binding or webhook is about the request. All versions of a resource are handled alike
 * (matchPolicy Equivalent), because every kind has one stored form. Source: k8s.io/apiserver/pkg/admission/plugin/policy/matching.
 */
export function matchesRequest(
  stores: StoreRegistry,
  criteria: MatchCriteria,
  a: AdmissionAttributes,
): boolean {
  return (
    criteria.rules.some((rule) => ruleMatches(rule, a)) &&
    !criteria.excludeRules?.some((rule) => ruleMatches(rule, a)) &&
    matchesNamespace(stores, criteria.namespaceSelector, a) &&
    matchesObject(criteria.objectSelector, a)
  );
}

const has = (values: readonly string[] | undefined, value: string): boolean =>
  values !== undefined && (values.includes('*') || values.includes(value));

function ruleMatches(rule: NamedRuleWithOperations, a: AdmissionAttributes): boolean {
  return (
    has(rule.operations, a.operation) &&
    has(rule.apiGroups, a.group) &&
    has(rule.apiVersions, a.version) &&
    resourceMatches(rule.resources ?? [], a) &&
    scopeMatches(rule.scope, a) &&
    (!rule.resourceNames?.length || rule.resourceNames.includes(a.name))
  );
}

/** A resource, one of its subresources, or a star for either; a star alone means no subresources. */
function resourceMatches(
  resources: readonly string[],
  { resource, subresource }: AdmissionAttributes,
): boolean {
  return resources.some((entry) => {
    const [wanted = '', wantedSub = ''] = entry.split('/');
    return (wanted === '*' || wanted === resource) && (wantedSub === '*' || wantedSub === subresource);
  });
}

function scopeMatches(scope: string | undefined, a: AdmissionAttributes): boolean {
  const isNamespaced = a.namespace !== '' && a.resource !== 'namespaces';
  return scope === undefined || scope === '*' || (scope === 'Namespaced') === isNamespaced;
}

/** A Namespace is matched by its own labels, a namespaced object by its namespace's, all else always. */
function matchesNamespace(
  stores: StoreRegistry,
  selector: LabelSelector | undefined,
  a: AdmissionAttributes,
): boolean {
  if (isEmpty(selector)) return true;
  if (a.group === '' && a.resource === 'namespaces') {
    return selectorOf(selector).matches((a.object ?? a.oldObject)?.metadata.labels ?? {});
  }
  if (a.namespace === '') return true;
  return selectorOf(selector).matches(stores.for(Namespaces).peek(a.namespace)?.metadata.labels ?? {});
}

function matchesObject(
  selector: LabelSelector | undefined,
  { object, oldObject }: AdmissionAttributes,
): boolean {
  if (isEmpty(selector)) return true;
  const compiled = selectorOf(selector);
  const matches = (o: KubeObject | undefined) => o !== undefined && compiled.matches(o.metadata.labels ?? {});
  return matches(object) || matches(oldObject);
}

const isEmpty = (selector: LabelSelector | undefined): boolean =>
  !selector || (Object.keys(selector.matchLabels ?? {}).length === 0 && !selector.matchExpressions?.length);

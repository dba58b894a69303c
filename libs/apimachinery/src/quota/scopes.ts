import type { Pod, ResourceQuota, ScopedResourceSelectorRequirement } from '@tinkernetes/api';
import { qosClassOf } from '../pods/pod-resources';

/** Whether a quota is about the Pod; quotas with scopes are about nothing else. Source: resource_quota evaluator podMatchesScopeFunc. */
export function quotaCoversPod({ spec }: ResourceQuota, pod: Pod): boolean {
  const fromScopes = (spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' as const }));
  return [...fromScopes, ...(spec?.scopeSelector?.matchExpressions ?? [])].every((requirement) =>
    matches(requirement, pod),
  );
}

export const hasScopes = ({ spec }: ResourceQuota): boolean =>
  (spec?.scopes?.length ?? 0) + (spec?.scopeSelector?.matchExpressions?.length ?? 0) > 0;

function matches({ scopeName, operator, values }: ScopedResourceSelectorRequirement, pod: Pod): boolean {
  const { spec } = pod;
  if (!spec) return false;
  const isTerminating = spec.activeDeadlineSeconds !== undefined && spec.activeDeadlineSeconds >= 0;
  const isBestEffort = qosClassOf(spec) === 'BestEffort';
  switch (scopeName) {
    case 'Terminating':
      return isTerminating;
    case 'NotTerminating':
      return !isTerminating;
    case 'BestEffort':
      return isBestEffort;
    case 'NotBestEffort':
      return !isBestEffort;
    case 'PriorityClass':
      return matchesValue(spec.priorityClassName || undefined, operator, values ?? []);
    case 'CrossNamespacePodAffinity':
      return usesCrossNamespaceAffinity(spec);
    default:
      return false;
  }
}

function matchesValue(value: string | undefined, operator: string, values: readonly string[]): boolean {
  switch (operator) {
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    default:
      return false;
  }
}

function usesCrossNamespaceAffinity({ affinity }: NonNullable<Pod['spec']>): boolean {
  return [affinity?.podAffinity, affinity?.podAntiAffinity].some((a) =>
    [
      ...(a?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
      ...(a?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
        (weighted) => weighted.podAffinityTerm,
      ),
    ].some((term) => Boolean(term.namespaces?.length) || term.namespaceSelector !== undefined),
  );
}

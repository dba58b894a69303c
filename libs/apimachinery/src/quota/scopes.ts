import type {
  KubeObject,
  PersistentVolumeClaim,
  Pod,
  ResourceQuota,
  ScopedResourceSelectorRequirement,
} from '@tinkernetes/api';
import { qosClassOf } from '../pods/pod-resources';

/** Whether a quota is about the object: one with scopes only about Pods, or claims, that all of them cover. */
export function quotaCovers(
  quota: ResourceQuota,
  { group, resource }: { group: string; resource: string },
  object: KubeObject,
): boolean {
  const { spec } = quota;
  const fromScopes = (spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' as const }));
  const requirements = [...fromScopes, ...(spec?.scopeSelector?.matchExpressions ?? [])];
  if (requirements.length === 0) return true;
  if (group !== '') return false;
  if (resource === 'pods') return requirements.every((requirement) => coversPod(requirement, object as Pod));
  return (
    resource === 'persistentvolumeclaims' &&
    requirements.every((requirement) => coversClaim(requirement, object as PersistentVolumeClaim))
  );
}

/** A claim counts by the class that it asks for, has, and is changing to. Source: quota evaluator pvcMatchesScopeFunc. */
function coversClaim(
  { scopeName, operator, values = [] }: ScopedResourceSelectorRequirement,
  { spec, status }: PersistentVolumeClaim,
): boolean {
  if (scopeName !== 'VolumeAttributesClass') return false;
  const classes = [
    spec.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ].filter(Boolean);
  return classes.length === 0
    ? matchesValue(undefined, operator, values)
    : classes.some((name) => matchesValue(name, operator, values));
}

/** Source: quota evaluator podMatchesScopeFunc. */
function coversPod({ scopeName, operator, values }: ScopedResourceSelectorRequirement, pod: Pod): boolean {
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

import type { LabelSelector, Pod, PodAffinity, PodAffinityTerm } from '@tinkernetes/api';
import { mapList, mapMember } from '../../fill';

interface KeysOfLabels {
  labelSelector?: LabelSelector;
  matchLabelKeys?: string[];
  mismatchLabelKeys?: string[];
}

/**
 * What the Pod's labels are when it is created becomes part of the selectors that ask for them. Source: pod
 * strategy.applyMatchLabelKeysAndMismatchLabelKeys.
 */
export function withLabelKeys(pod: Pod): Pod {
  const labels = pod.metadata.labels ?? {};
  const merge = <T extends KeysOfLabels>(term: T): T => {
    const requirements = (keys: readonly string[] | undefined, operator: 'In' | 'NotIn') =>
      (keys ?? []).flatMap((key) => {
        const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
        return value === undefined ? [] : [{ key, operator, values: [value] }];
      });
    const added = [
      ...requirements(term.matchLabelKeys, 'In'),
      ...requirements(term.mismatchLabelKeys, 'NotIn'),
    ];
    if (!term.labelSelector || added.length === 0) return term;
    const { matchExpressions = [] } = term.labelSelector;
    return {
      ...term,
      labelSelector: { ...term.labelSelector, matchExpressions: [...matchExpressions, ...added] },
    };
  };
  return mapMember(pod, 'spec', (spec) => {
    const spread = mapMember(spec, 'topologySpreadConstraints', (list) => mapList(list, merge));
    return mapMember(spread, 'affinity', (affinity) => {
      const near = mapMember(affinity, 'podAffinity', (part) => mapTerms(part, merge));
      return mapMember(near, 'podAntiAffinity', (part) => mapTerms(part, merge));
    });
  });
}

function mapTerms(affinity: PodAffinity, change: (term: PodAffinityTerm) => PodAffinityTerm): PodAffinity {
  const required = mapMember(affinity, 'requiredDuringSchedulingIgnoredDuringExecution', (list) =>
    mapList(list, change),
  );
  return mapMember(required, 'preferredDuringSchedulingIgnoredDuringExecution', (list) =>
    mapList(list, (term) => mapMember(term, 'podAffinityTerm', change)),
  );
}

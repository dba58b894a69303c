import type { Affinity, PodAffinityTerm } from '@tinkernetes/api';
import { selectorOf, type Selector } from '@tinkernetes/apimachinery';

/** A Pod (anti-)affinity term, ready to be matched. */
export interface AffinityTerm {
  readonly selector: Selector;
  readonly topologyKey: string;
  readonly namespaces: ReadonlySet<string>;
  /** Undefined: only `namespaces`. */
  readonly namespaceSelector: Selector | undefined;
}
export interface WeightedAffinityTerm extends AffinityTerm {
  readonly weight: number;
}
export interface AffinityTerms {
  readonly required: readonly AffinityTerm[];
  readonly requiredAnti: readonly AffinityTerm[];
  readonly preferred: readonly WeightedAffinityTerm[];
  readonly preferredAnti: readonly WeightedAffinityTerm[];
}

const none: AffinityTerms = { required: [], requiredAnti: [], preferred: [], preferredAnti: [] };

/** `namespace`: of the Pod whose terms they are. */
export function parseAffinityTerms(affinity: Affinity | undefined, namespace: string): AffinityTerms {
  const { podAffinity, podAntiAffinity } = affinity ?? {};
  if (!podAffinity && !podAntiAffinity) return none;
  const parse = (term: PodAffinityTerm) => parseTerm(term, namespace);
  const parseWeighted = ({
    weight,
    podAffinityTerm,
  }: {
    weight: number;
    podAffinityTerm: PodAffinityTerm;
  }) => ({
    ...parse(podAffinityTerm),
    weight,
  });
  return {
    required: (podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map(parse),
    requiredAnti: (podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map(parse),
    preferred: (podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(parseWeighted),
    preferredAnti: (podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
      parseWeighted,
    ),
  };
}

/** Without namespaces and namespaceSelector a term speaks of its Pod's own namespace. */
function parseTerm(term: PodAffinityTerm, namespace: string): AffinityTerm {
  const namespaces = new Set(term.namespaces ?? []);
  if (namespaces.size === 0 && !term.namespaceSelector) namespaces.add(namespace);
  return {
    // matchLabelKeys were merged into the selector when the Pod was created.
    selector: selectorOf(term.labelSelector),
    topologyKey: term.topologyKey,
    namespaces,
    namespaceSelector: term.namespaceSelector ? selectorOf(term.namespaceSelector) : undefined,
  };
}

/** Of a Pod, or of all Pods of a kind. */
export interface TermTarget {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** `namespaceLabels` gives the labels of a namespace, for terms that select namespaces by label. */
export function termMatches(
  term: AffinityTerm,
  { namespace, labels }: TermTarget,
  namespaceLabels: (namespace: string) => Readonly<Record<string, string>>,
): boolean {
  const inNamespace =
    term.namespaces.has(namespace) || (term.namespaceSelector?.matches(namespaceLabels(namespace)) ?? false);
  return inNamespace && term.selector.matches(labels);
}

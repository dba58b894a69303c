import type { Pod } from '@tinkernetes/api';
import { parseAffinityTerms, type AffinityTerms } from './affinity-terms';

/** What Pods of one template have in common: to affinity and spreading they are all the same. One object a kind. */
export interface PodKind {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly affinity: AffinityTerms;
  /** It is being deleted, and doesn't count where Pods are spread. */
  readonly isLeaving: boolean;
}

const known = new Map<string, WeakRef<PodKind>>();
const forgotten = new FinalizationRegistry<string>((key) => {
  if (known.get(key)?.deref() === undefined) known.delete(key);
});

export function kindOf({ metadata, spec }: Pod): PodKind {
  const { namespace = '', labels = {}, deletionTimestamp } = metadata;
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {};
  const isLeaving = deletionTimestamp !== undefined;
  const key = JSON.stringify([namespace, labels, podAffinity, podAntiAffinity, isLeaving]);
  const found = known.get(key)?.deref();
  if (found) return found;
  const made: PodKind = {
    namespace,
    labels,
    affinity: parseAffinityTerms(spec?.affinity, namespace),
    isLeaving,
  };
  known.set(key, new WeakRef(made));
  forgotten.register(made, key);
  return made;
}

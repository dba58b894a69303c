import type { NodeSelector, NodeSelectorTerm, Pod } from '@tinkernetes/api';
import {
  nodeSelectorMatches,
  nodeSelectorTermMatches,
  requiredNodeAffinityMatches,
} from '@tinkernetes/apimachinery';
import { nodeOf, type ClusterEvent } from '../framework/cluster-event';
import { skip, unresolvable } from '../framework/status';
import type { PluginFactory } from '../framework/types';
import { normalizeScores } from './normalize-scores';

const name = 'NodeAffinity';
const reason = "node(s) didn't match Pod's node affinity/selector";
const enforcedReason = "node(s) didn't match scheduler-enforced node affinity";

/** Nodes that the Pod names by `matchFields: metadata.name` in every term; undefined: it doesn't. */
function namedNodes(pod: Pod): Set<string> | undefined {
  const terms =
    pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const names = terms.map(namesOfTerm);
  if (names.length === 0 || names.includes(undefined)) return undefined;
  return new Set(names.flatMap((list) => list ?? []));
}

function namesOfTerm({ matchFields = [] }: NodeSelectorTerm): readonly string[] | undefined {
  const lists = matchFields.flatMap(({ key, operator, values = [] }) =>
    key === 'metadata.name' && operator === 'In' ? [values] : [],
  );
  const [first, ...rest] = lists;
  return first?.filter((value) => rest.every((list) => list.includes(value)));
}

/** `nodeSelector` and node affinity: required terms filter, preferred ones score. */
export const nodeAffinity: PluginFactory = {
  name,
  create(args) {
    const added = args.addedAffinity as
      { requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector } | undefined;
    const enforced = added?.requiredDuringSchedulingIgnoredDuringExecution;
    const fitsNow = (pod: Pod, event: ClusterEvent) => {
      const node = nodeOf(event);
      return node !== undefined && requiredNodeAffinityMatches(pod, node);
    };
    return {
      name,
      events: [{ resource: 'Node', actions: ['Add', 'UpdateNodeLabel'], hint: fitsNow }],
      preFilter(_state, pod) {
        const { nodeSelector, affinity } = pod.spec ?? {};
        const asksForNone =
          !nodeSelector && !affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
        if (asksForNone && !enforced) return { status: skip };
        const nodes = namedNodes(pod);
        if (!nodes) return undefined;
        return nodes.size > 0 ? { nodes } : { status: unresolvable('pod affinity terms conflict') };
      },
      filter(_state, pod, { node }) {
        if (enforced && !nodeSelectorMatches(enforced, node)) return unresolvable(enforcedReason);
        return requiredNodeAffinityMatches(pod, node) ? undefined : unresolvable(reason);
      },
      preScore: (_state, pod) =>
        pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution?.length
          ? undefined
          : skip,
      score(_state, pod, { node }) {
        const terms = pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
        return terms.reduce(
          (sum, { weight, preference }) => (matchesPreference(preference, node) ? sum + weight : sum),
          0,
        );
      },
      normalizeScore: (_state, _pod, scores) => normalizeScores(scores),
    };
  },
};

/** Unlike a required term, an empty preference matches every node. */
function matchesPreference(
  term: NodeSelectorTerm,
  node: Parameters<typeof nodeSelectorTermMatches>[1],
): boolean {
  const isEmpty = !term.matchExpressions?.length && !term.matchFields?.length;
  return isEmpty || nodeSelectorTermMatches(term, node);
}

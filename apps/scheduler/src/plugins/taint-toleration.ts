import type { Pod } from '@tinkernetes/api';
import { findUntoleratedTaint, isTolerated } from '@tinkernetes/apimachinery';
import { nodeOf, type ClusterEvent } from '../framework/cluster-event';
import { unresolvable } from '../framework/status';
import type { PluginFactory } from '../framework/types';
import { normalizeScores } from './normalize-scores';

const name = 'TaintToleration';

function fitsNow(pod: Pod, event: ClusterEvent): boolean {
  const node = nodeOf(event);
  return node !== undefined && !findUntoleratedTaint(node.spec?.taints, pod.spec?.tolerations);
}

/** Refuses nodes with taints that the Pod doesn't tolerate; prefers nodes with few PreferNoSchedule ones. */
export const taintToleration: PluginFactory = {
  name,
  create: () => ({
    name,
    events: [
      { resource: 'Node', actions: ['Add', 'UpdateNodeTaint'], hint: fitsNow },
      {
        resource: 'UnscheduledPod',
        actions: ['UpdatePodToleration'],
        hint: (pod, { after }) => after?.metadata.uid === pod.metadata.uid,
      },
    ],
    filter(_state, pod, { node }) {
      const taint = findUntoleratedTaint(node.spec?.taints, pod.spec?.tolerations);
      // Which taint it is may be nobody's business: the message is for everybody who sees the Pod.
      return taint && unresolvable('node(s) had untolerated taint(s)');
    },
    score(_state, pod, { node }) {
      const soft = (pod.spec?.tolerations ?? []).filter(
        ({ effect }) => !effect || effect === 'PreferNoSchedule',
      );
      const taints = (node.spec?.taints ?? []).filter(({ effect }) => effect === 'PreferNoSchedule');
      return taints.filter((taint) => !isTolerated(taint, soft)).length;
    },
    normalizeScore: (_state, _pod, scores) => normalizeScores(scores, { reverse: true }),
  }),
};

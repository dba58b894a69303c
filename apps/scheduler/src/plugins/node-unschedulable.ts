import { isTolerated } from '@tinkernetes/apimachinery';
import type { Taint } from '@tinkernetes/api';
import { nodeOf } from '../framework/cluster-event';
import { unresolvable } from '../framework/status';
import type { PluginFactory } from '../framework/types';

const name = 'NodeUnschedulable';
const taint: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** Keeps Pods off cordoned nodes, unless they tolerate that. */
export const nodeUnschedulable: PluginFactory = {
  name,
  create: () => ({
    name,
    events: [
      {
        resource: 'Node',
        actions: ['Add', 'UpdateNodeTaint'],
        hint: (_pod, event) => !nodeOf(event)?.spec?.unschedulable,
      },
      {
        resource: 'UnscheduledPod',
        actions: ['UpdatePodToleration'],
        hint: (pod, { after }) => after?.metadata.uid === pod.metadata.uid,
      },
    ],
    filter(_state, pod, { node }) {
      if (!node.spec?.unschedulable || isTolerated(taint, pod.spec?.tolerations)) return undefined;
      return unresolvable('node(s) were unschedulable');
    },
  }),
};

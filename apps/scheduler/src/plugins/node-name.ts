import { skip, unresolvable } from '../framework/status';
import type { PluginFactory } from '../framework/types';

const name = 'NodeName';

/** `spec.nodeName` of a Pod that is to be scheduled nevertheless. */
export const nodeName: PluginFactory = {
  name,
  create: () => ({
    name,
    events: [{ resource: 'Node', actions: ['Add'] }],
    preFilter: (_state, pod) => (pod.spec?.nodeName ? undefined : { status: skip }),
    filter(_state, pod, node) {
      const wanted = pod.spec?.nodeName;
      if (!wanted || wanted === node.name) return undefined;
      return unresolvable("node(s) didn't match the requested node name");
    },
  }),
};

import { unresolvable } from '../framework/status';
import type { PluginFactory } from '../framework/types';

const name = 'SchedulingGates';

/** Holds a Pod back until all of `spec.schedulingGates` are gone. */
export const schedulingGates: PluginFactory = {
  name,
  create: () => ({
    name,
    events: [
      {
        resource: 'UnscheduledPod',
        actions: ['UpdatePodSchedulingGatesEliminated'],
        hint: (pod, { after }) => after?.metadata.uid === pod.metadata.uid,
      },
    ],
    preEnqueue(pod) {
      const gates = pod.spec?.schedulingGates ?? [];
      if (gates.length === 0) return undefined;
      return unresolvable(`waiting for scheduling gates: [${gates.map((gate) => gate.name).join(' ')}]`);
    },
  }),
};

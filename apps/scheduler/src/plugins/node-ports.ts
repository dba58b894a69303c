import type { Pod } from '@tinkernetes/api';
import { podInfoOf, portsConflict } from '../cache/pod-info';
import { skip, unschedulable } from '../framework/status';
import type { PluginFactory } from '../framework/types';

const name = 'NodePorts';

/** Host ports that no other Pod on the node uses. */
export const nodePorts: PluginFactory = {
  name,
  create: () => ({
    name,
    events: [
      {
        resource: 'AssignedPod',
        actions: ['Delete'],
        hint: (pod, { before }) => sharesPort(pod, before as Pod | undefined),
      },
      { resource: 'Node', actions: ['Add'] },
    ],
    preFilter: (_state, pod) => (podInfoOf(pod).hostPorts.length === 0 ? { status: skip } : undefined),
    filter(_state, pod, node) {
      const taken = podInfoOf(pod).hostPorts.some((port) =>
        node.usedPorts.some((used) => portsConflict(port, used)),
      );
      return taken ? unschedulable("node(s) didn't have free ports for the requested pod ports") : undefined;
    },
  }),
};

const sharesPort = (pod: Pod, gone: Pod | undefined): boolean =>
  gone !== undefined &&
  podInfoOf(gone).hostPorts.some((used) =>
    podInfoOf(pod).hostPorts.some((port) => portsConflict(port, used)),
  );

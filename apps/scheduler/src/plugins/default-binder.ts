import { Pods } from '@tinkernetes/api';
import { failed } from '../framework/status';
import type { PluginFactory } from '../framework/types';

const name = 'DefaultBinder';

/** Posts the Binding. */
export const defaultBinder: PluginFactory = {
  name,
  create: (_args, { client }) => ({
    name,
    async bind(_state, pod, { node, signal, trace }) {
      const { name: podName, namespace, uid } = pod.metadata;
      const binding = {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: podName, namespace, uid },
        target: { apiVersion: 'v1', kind: 'Node', name: node },
      };
      try {
        await client.for(Pods).subresource('POST', podName, 'binding', binding, { namespace, signal, trace });
        return undefined;
      } catch (error) {
        return failed(error);
      }
    },
  }),
};

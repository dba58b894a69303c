import type { PluginFactory } from '../framework/types';

/** Higher priority first, then whoever waits longer. */
export const prioritySort: PluginFactory = {
  name: 'PrioritySort',
  create: () => ({
    name: 'PrioritySort',
    less(a, b) {
      const [first, second] = [a.pod.spec?.priority ?? 0, b.pod.spec?.priority ?? 0];
      return first > second || (first === second && a.timestamp < b.timestamp);
    },
  }),
};

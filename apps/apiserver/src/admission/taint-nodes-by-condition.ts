import type { KubeObject, Node } from '@tinkernetes/api';
import type { AdmissionPlugin } from '../contracts';
import { concerns } from './answers';

const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' } as const;

/** A new node takes no Pods until the node controller has seen it ready. */
export const taintNodesByCondition: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  handles: (a) => a.operation === 'CREATE' && concerns(a, { resource: 'nodes' }),
  mutate: ({ object }) => {
    const node = object as Node;
    const taints = node.spec?.taints ?? [];
    if (taints.some((t) => t.key === notReady.key && t.effect === notReady.effect)) return node;
    return { ...node, spec: { ...node.spec, taints: [...taints, { ...notReady }] } } as KubeObject;
  },
};

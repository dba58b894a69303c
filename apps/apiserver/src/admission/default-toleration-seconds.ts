import type { KubeObject, Pod, Toleration } from '@tinkernetes/api';
import type { AdmissionPlugin } from '../contracts';
import { concerns } from './answers';

const taints = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'] as const;
const seconds = 300;

/** Pods bear a node that is not ready or can't be reached for five minutes, unless they say otherwise. */
export const defaultTolerationSeconds: AdmissionPlugin = {
  name: 'DefaultTolerationSeconds',
  handles: (a) => (a.operation === 'CREATE' || a.operation === 'UPDATE') && concerns(a, { resource: 'pods' }),
  mutate: ({ object }) => {
    const pod = object as Pod;
    const tolerations = pod.spec?.tolerations ?? [];
    const missing = taints.filter((key) => !tolerations.some((t) => toleratesEviction(t, key)));
    if (!pod.spec || missing.length === 0) return pod;
    const added = missing.map((key) => ({
      key,
      operator: 'Exists' as const,
      effect: 'NoExecute' as const,
      tolerationSeconds: seconds,
    }));
    return { ...pod, spec: { ...pod.spec, tolerations: [...tolerations, ...added] } } as KubeObject;
  },
};

const toleratesEviction = (t: Toleration, key: string): boolean =>
  (!t.key || t.key === key) && (!t.effect || t.effect === 'NoExecute');

import type { Pod } from '@tinkernetes/api';
import type { SharedInformer } from '@tinkernetes/informers';

/** Name of the index of Pods by the node they are bound to; '' for none. */
export const nodeIndex = 'nodeName';

/** Several controllers may ask for it on the same informer. */
export const indexByNode = (pods: SharedInformer<Pod>): void =>
  pods.addIndex(nodeIndex, (pod) => [pod.spec.nodeName ?? '']);

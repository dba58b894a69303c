import type { Pod } from '@tinkernetes/api';
import type { SharedInformer } from '@tinkernetes/informers';

/** Name of the index of Pods by the node they are bound to; '' for none. */
export const nodeIndex = 'nodeName';

const indexed = new WeakSet<object>();

/** Several controllers may ask for it on the same informer. */
export function indexByNode(pods: SharedInformer<Pod>): void {
  if (indexed.has(pods)) return;
  indexed.add(pods);
  pods.addIndex(nodeIndex, (pod) => [pod.spec.nodeName ?? '']);
}

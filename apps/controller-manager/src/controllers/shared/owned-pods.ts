import type { KubeObject, Pod } from '@tinkernetes/api';
import { controllerOf, keyOf, type Selector } from '@tinkernetes/apimachinery';
import type { ControllerExpectations } from '@tinkernetes/controller';
import type { SharedInformer } from '@tinkernetes/informers';

export interface OwnedPodsOptions<T extends KubeObject> {
  pods: SharedInformer<Pod>;
  owners: SharedInformer<T>;
  enqueue(key: string): void;
  selectorOf(owner: T): Selector;
  expectations?: ControllerExpectations;
}

/**
 * Enqueues the controller of each Pod that changes, counts what it expected, and offers Pods without a controller to
 * all owners in the namespace whose selector matches.
 */
export function watchOwnedPods<T extends KubeObject>({
  pods,
  owners,
  enqueue,
  selectorOf,
  expectations,
}: OwnedPodsOptions<T>): void {
  const offerOrphan = (pod: Pod) => {
    for (const owner of owners.lister.list(pod.metadata.namespace)) {
      const selector = selectorOf(owner);
      if (!selector.isEverything && selector.matches(pod.metadata.labels)) enqueue(keyOf(owner));
    }
  };
  const onPod = (pod: Pod, what: 'added' | 'updated' | 'deleted') => {
    const owner = controllerOf(pod);
    if (!owner) return what === 'deleted' ? undefined : offerOrphan(pod);
    if (owner.kind !== owners.descriptor.kind) return undefined;
    const key = `${pod.metadata.namespace}/${owner.name}`;
    if (owners.lister.getByKey(key)?.metadata.uid !== owner.uid) return undefined;
    if (what === 'added') expectations?.creationObserved(key);
    if (what === 'deleted') expectations?.deletionObserved(key, keyOf(pod));
    return enqueue(key);
  };
  pods.addEventHandler({
    added: (pod) => onPod(pod, pod.metadata.deletionTimestamp ? 'deleted' : 'added'),
    updated: (before, pod) => {
      if (controllerOf(before)?.uid !== controllerOf(pod)?.uid) onPod(before, 'updated');
      const startsToGo = pod.metadata.deletionTimestamp && !before.metadata.deletionTimestamp;
      onPod(pod, startsToGo ? 'deleted' : 'updated');
    },
    deleted: (pod) => onPod(pod, 'deleted'),
  });
}

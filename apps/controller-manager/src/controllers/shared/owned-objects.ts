import type { KubeObject } from '@tinkernetes/api';
import { controllerOf, keyOf, type Selector } from '@tinkernetes/apimachinery';
import type { ControllerExpectations } from '@tinkernetes/controller';
import type { SharedInformer } from '@tinkernetes/informers';

export interface OwnedObjectsOptions<C extends KubeObject, O extends KubeObject> {
  children: SharedInformer<C>;
  owners: SharedInformer<O>;
  /** `child` as it is now; `before`: what it was, where it was updated. */
  enqueue(key: string, child: C, before?: C): void;
  /** Which children without a controller an owner would adopt; left out: none. */
  selectorOf?(owner: O): Selector;
  expectations?: ControllerExpectations;
}

/**
 * Enqueues the controller of each child that changes, counts what it expected, and offers children without a controller
 * to all owners in the namespace whose selector matches.
 */
export function watchOwned<C extends KubeObject, O extends KubeObject>({
  children,
  owners,
  enqueue,
  selectorOf,
  expectations,
}: OwnedObjectsOptions<C, O>): void {
  const offerOrphan = (child: C) => {
    if (!selectorOf) return;
    for (const owner of owners.lister.list(child.metadata.namespace)) {
      const selector = selectorOf(owner);
      if (!selector.isEverything && selector.matches(child.metadata.labels)) enqueue(keyOf(owner), child);
    }
  };
  const onChild = (child: C, what: 'added' | 'updated' | 'deleted', before?: C) => {
    const owner = controllerOf(child);
    if (!owner) return what === 'deleted' ? undefined : offerOrphan(child);
    if (owner.kind !== owners.descriptor.kind) return undefined;
    const key = `${child.metadata.namespace}/${owner.name}`;
    if (owners.lister.getByKey(key)?.metadata.uid !== owner.uid) return undefined;
    if (what === 'added') expectations?.creationObserved(key);
    if (what === 'deleted') expectations?.deletionObserved(key, keyOf(child));
    return enqueue(key, child, before);
  };
  children.addEventHandler({
    added: (child) => onChild(child, child.metadata.deletionTimestamp ? 'deleted' : 'added'),
    updated: (before, child) => {
      if (controllerOf(before)?.uid !== controllerOf(child)?.uid) onChild(before, 'updated');
      const startsToGo = child.metadata.deletionTimestamp && !before.metadata.deletionTimestamp;
      onChild(child, startsToGo ? 'deleted' : 'updated', before);
    },
    deleted: (child) => onChild(child, 'deleted'),
  });
}

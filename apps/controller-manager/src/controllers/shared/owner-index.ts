import type { KubeObject } from '@tinkernetes/api';
import { controllerOf } from '@tinkernetes/apimachinery';
import type { SharedInformer } from '@tinkernetes/informers';

/** Name of the index by the uid of an object's controller; '' for orphans, by namespace: `orphan/NAMESPACE`. */
export const controllerUidIndex = 'controllerUid';

const indexed = new WeakSet<object>();

/** Several controllers may ask for it on the same informer. */
export function indexByControllerUid<T extends KubeObject>(informer: SharedInformer<T>): void {
  if (indexed.has(informer)) return;
  indexed.add(informer);
  informer.addIndex(controllerUidIndex, (object) => [
    controllerOf(object)?.uid ?? `orphan/${object.metadata.namespace ?? ''}`,
  ]);
}

/** The candidates that an owner may claim: its own children and the orphans of its namespace. */
export function childCandidates<T extends KubeObject>(
  informer: SharedInformer<T>,
  owner: KubeObject,
): readonly T[] {
  const own = informer.lister.byIndex(controllerUidIndex, owner.metadata.uid ?? '');
  const orphans = informer.lister.byIndex(controllerUidIndex, `orphan/${owner.metadata.namespace ?? ''}`);
  return orphans.length === 0 ? own : [...own, ...orphans];
}

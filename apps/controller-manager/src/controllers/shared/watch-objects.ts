import type { KubeObject } from '@tinkernetes/api';
import { keyOf } from '@tinkernetes/apimachinery';
import type { SharedInformer } from '@tinkernetes/informers';

/** Enqueues each object that comes, changes or goes under its own key; with `filter`, those of interest. */
export function watchObjects<T extends KubeObject>(
  informer: SharedInformer<T>,
  enqueue: (key: string) => void,
  filter: (object: T) => boolean = () => true,
): void {
  const onObject = (object: T) => {
    if (filter(object)) enqueue(keyOf(object));
  };
  informer.addEventHandler({ added: onObject, updated: (_, object) => onObject(object), deleted: onObject });
}

import type { KubeObject } from '@tinkernetes/api';
import { keyOf } from '@tinkernetes/apimachinery';
import type { ControllerExpectations } from '@tinkernetes/controller';
import type { SharedInformer } from '@tinkernetes/informers';

export interface WatchObjectsOptions<T> {
  /** Of interest are only these. */
  filter?(object: T): boolean;
  /** Nothing that was expected of an object that is gone, or replaced by one of its name, will be seen. */
  expectations?: ControllerExpectations;
}

/** Enqueues each object that comes, changes or goes under its own key. */
export function watchObjects<T extends KubeObject>(
  informer: SharedInformer<T>,
  enqueue: (key: string) => void,
  { filter = () => true, expectations }: WatchObjectsOptions<T> = {},
): void {
  const onObject = (object: T) => {
    if (filter(object)) enqueue(keyOf(object));
  };
  informer.addEventHandler({
    added: onObject,
    updated: (before, object) => {
      if (before.metadata.uid !== object.metadata.uid) expectations?.forget(keyOf(before));
      onObject(object);
    },
    deleted: (object) => {
      expectations?.forget(keyOf(object));
      onObject(object);
    },
  });
}

import type { KubeObject, ResourceDescriptor } from '@tinkernetes/api';
import { keyOf } from '@tinkernetes/apimachinery';
import type { SharedInformer, SharedInformerFactory } from '@tinkernetes/informers';

/** Informers that hold what they are given and never change: for plugins that only look things up. */
export function listedInformers(objects: readonly KubeObject[]): SharedInformerFactory {
  return {
    for<T extends KubeObject>(descriptor: ResourceDescriptor<T>): SharedInformer<T> {
      const all = objects.filter(({ kind }) => kind === descriptor.kind) as T[];
      const indexes = new Map<string, (object: T) => readonly string[]>();
      const getByKey = (key: string) => all.find((object) => keyOf(object) === key);
      return {
        descriptor,
        lister: {
          get: (name, namespace) => getByKey(namespace ? `${namespace}/${name}` : name),
          getByKey,
          list: (namespace) => all.filter(({ metadata }) => !namespace || metadata.namespace === namespace),
          byIndex: (index, value) => all.filter((object) => indexes.get(index)?.(object).includes(value)),
          size: all.length,
        },
        addIndex: (index, of) => void indexes.set(index, of),
        addEventHandler: () => () => undefined,
        hasSynced: true,
        waitForSync: async () => undefined,
        replay: async () => undefined,
        lastSyncResourceVersion: '1',
      };
    },
    has: () => true,
    start: () => undefined,
    waitForSync: async () => undefined,
    replay: async () => undefined,
    stopped: async () => undefined,
  };
}

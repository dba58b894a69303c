import type { KubeObject } from '@tinkernetes/api';
import type { ServedResource } from '../registry/generic/served-resource';

/** An object's metadata as it is shown alone or beside a row's cells, in the order of its type. */
export function shownMetadata({ strategy }: ServedResource, object: KubeObject): object {
  const metadata = strategy.rowMetadata?.(object) ?? object.metadata;
  const { name, generateName, namespace, selfLink, uid, resourceVersion, ...rest } = metadata;
  return { name: name || undefined, generateName, namespace, selfLink, uid, resourceVersion, ...rest };
}

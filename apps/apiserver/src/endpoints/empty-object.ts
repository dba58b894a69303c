import { apiVersionOf, type KubeObject, type ObjectMeta } from '@tinkernetes/api';
import type { ServedResource } from '../registry/generic/served-resource';

/** An object of the resource's kind in which only the metadata is set, as bookmarks are. */
export function emptyObject(resource: ServedResource, metadata: ObjectMeta): KubeObject {
  const { descriptor, custom, strategy } = resource;
  const own = { kind: descriptor.kind, apiVersion: apiVersionOf(descriptor), metadata };
  if (custom) return own;
  const { kind: _kind, apiVersion: _apiVersion, metadata: _metadata, ...members } = resource.typing().empty;
  const object = { ...own, ...(withNulls(members) as object) };
  return strategy.unset?.(object) ?? object;
}

/** Go's lists that nobody has made are null. */
function withNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.length > 0 ? value : null;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withNulls(member)]));
}

import { CustomResourceDefinitions, loadDiscovery } from '@tinkernetes/api';
import type { ResourceStore, StoreRegistry } from '../contracts';

/** The store of a kind in its version, built-in or custom; undefined when no such kind is served. */
export function storeOfKind(
  stores: StoreRegistry,
  { apiVersion = '', kind = '' }: { apiVersion?: string; kind?: string },
): ResourceStore | undefined {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  const builtIn = Object.values(loadDiscovery())
    .filter((document) => document.groupVersion === apiVersion)
    .flatMap((document) => document.resources ?? [])
    .find((resource) => resource.kind === kind && !resource.name.includes('/'));
  const plural =
    builtIn?.name ??
    stores
      .for(CustomResourceDefinitions)
      .list()
      .find(({ spec }) => spec.group === group && spec.names.kind === kind)?.spec.names.plural;
  return plural === undefined ? undefined : stores.findVersion(group, version, plural);
}

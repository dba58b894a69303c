import { loadAggregatedDiscovery } from '@tinkernetes/api';
import type { ResourceTable } from '../registry/generic/resource-table';
import type { ServedResource } from '../registry/generic/served-resource';
import { apiGroups } from './documents';

interface DiscoveryItem {
  metadata: { name?: string };
  versions: { version: string; resources: unknown[]; freshness?: string }[];
}

/** The APIGroupDiscoveryList for `/api` (core group) or `/apis`. Source: KEP-3352. */
export function aggregatedDiscovery(table: ResourceTable, root: '/api' | '/apis', version: string): object {
  const facts = loadAggregatedDiscovery();
  const items = facts.items as DiscoveryItem[];
  if (root === '/api') return listOf(version, [coreItem(table)]);
  const builtIn = items;
  const known = new Set(builtIn.map((item) => item.metadata.name));
  const custom = apiGroups(table)
    .filter(({ name }) => !known.has(name))
    .map(({ name, versions }) => ({
      metadata: { name },
      versions: versions.map((v) => ({
        version: v.version,
        resources: [...table.all()]
          .filter(({ descriptor }) => descriptor.group === name && descriptor.version === v.version)
          .map(resourceDiscovery),
        freshness: 'Current',
      })),
    }));
  return listOf(version, [...builtIn, ...custom]);
}

/** The core group has no name. */
const coreItem = (table: ResourceTable): DiscoveryItem => ({
  metadata: {},
  versions: [
    {
      version: 'v1',
      resources: [...table.all()]
        .filter(({ descriptor }) => descriptor.group === '' && descriptor.version === 'v1')
        .map(resourceDiscovery)
        .sort((a, b) => (a.resource < b.resource ? -1 : 1)),
      freshness: 'Current',
    },
  ],
});

const listOf = (version: string, items: readonly DiscoveryItem[]): object => ({
  kind: 'APIGroupDiscoveryList',
  apiVersion: `apidiscovery.k8s.io/${version}`,
  metadata: {},
  items,
});

function resourceDiscovery(resource: ServedResource): { resource: string; [key: string]: unknown } {
  const { descriptor, shortNames, categories, subresources } = resource;
  const { group, version, kind } = descriptor;
  return {
    resource: descriptor.resource,
    responseKind: { group, version, kind },
    scope: descriptor.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singular,
    verbs: [...resource.verbs],
    ...(shortNames.length ? { shortNames } : undefined),
    ...(categories.length ? { categories } : undefined),
    ...(subresources.size
      ? {
          subresources: [...subresources.values()].map((sub) => ({
            subresource: sub.name,
            responseKind: { group: sub.group, version: sub.version, kind: sub.kind },
            verbs: sub.verbs,
          })),
        }
      : undefined),
  };
}

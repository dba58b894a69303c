import { loadAggregatedDiscovery } from '@tinkernetes/api';
import type { Aggregator } from '../aggregation/aggregator';
import type { RemoteDocuments } from '../aggregation/remote-documents';
import { remoteVersion, type VersionDiscovery } from '../aggregation/remote-discovery';
import type { ResourceTable } from '../registry/generic/resource-table';
import type { ServedResource } from '../registry/generic/served-resource';
import { apiGroups, type APIGroup } from './documents';

interface DiscoveryItem {
  metadata: { name?: string };
  versions: VersionDiscovery[];
}

/** What discovery is made from. */
export interface AggregatedSources {
  readonly table: ResourceTable;
  readonly aggregator: Aggregator;
  readonly remoteDocuments: RemoteDocuments;
}

/** The APIGroupDiscoveryList for `/api` (core group) or `/apis`. Source: KEP-3352. */
export async function aggregatedDiscovery(
  sources: AggregatedSources,
  root: '/api' | '/apis',
  version: string,
): Promise<object> {
  if (root === '/api') return listOf(version, [coreItem(sources.table)]);
  const facts = loadAggregatedDiscovery().items as DiscoveryItem[];
  const builtIn = new Map(facts.map((item) => [item.metadata.name, item] as const));
  const items = apiGroups(sources.table).map((group) => groupItem(sources, group, builtIn.get(group.name)));
  return listOf(version, await Promise.all(items));
}

async function groupItem(
  { table, aggregator, remoteDocuments }: AggregatedSources,
  { name, versions }: APIGroup,
  fact: DiscoveryItem | undefined,
): Promise<DiscoveryItem> {
  const ofVersion = (version: string): VersionDiscovery | Promise<VersionDiscovery> => {
    const remote = aggregator.remoteFor(`/apis/${name}/${version}`);
    if (remote) return remoteVersion(remoteDocuments, remote);
    return fact?.versions.find((v) => v.version === version) ?? localVersion(table, name, version);
  };
  return {
    metadata: fact?.metadata ?? { name },
    versions: await Promise.all(versions.map(({ version }) => ofVersion(version))),
  };
}

const localVersion = (table: ResourceTable, group: string, version: string): VersionDiscovery => ({
  version,
  resources: [...table.all()]
    .filter(({ descriptor }) => descriptor.group === group && descriptor.version === version)
    .map(resourceDiscovery),
  freshness: 'Current',
});

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

import { apiVersionOf, type ResourceDescriptor } from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';
import { discoverResources, discoverVersion, type DiscoveredResource } from '../shared/discovered-resources';

const keyOf = (resource: ResourceDescriptor): string => `${apiVersionOf(resource)}/${resource.kind}`;

/** kind → resource, from discovery; asked again when a kind is unknown. */
export class ResourceMap {
  private byKind = new Map<string, DiscoveredResource>();
  private refreshing: Promise<DiscoveredResource[]> | undefined;

  constructor(private readonly client: Client) {}

  async find(apiVersion: string, kind: string): Promise<ResourceDescriptor | undefined> {
    const key = `${apiVersion}/${kind}`;
    if (!this.byKind.has(key)) await this.refresh();
    // Whoever wrote the reference may have used another version than the preferred one.
    if (!this.byKind.has(key))
      for (const resource of await discoverVersion(this.client, apiVersion))
        this.byKind.set(keyOf(resource), resource);
    return this.byKind.get(key);
  }

  /** All resources that can be listed, watched and deleted. */
  async refresh(): Promise<DiscoveredResource[]> {
    this.refreshing ??= discoverResources(this.client)
      .then(({ resources }) => {
        this.byKind = new Map(resources.map((r) => [keyOf(r), r]));
        return resources.filter((r) => ['delete', 'list', 'watch'].every((verb) => r.verbs.includes(verb)));
      })
      .finally(() => (this.refreshing = undefined));
    return this.refreshing;
  }
}

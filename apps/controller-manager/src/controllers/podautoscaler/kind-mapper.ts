import type { ResourceDescriptor } from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';
import { LruMap, type Clock } from '@tinkernetes/component-base';

interface APIGroup {
  versions: { groupVersion: string; version: string }[];
}
interface APIResourceList {
  resources: { name: string; kind: string; namespaced: boolean }[];
}

/** A kind that is not known is looked for again after this time: its definition may have come. */
const keptMs = 30_000;
/** Kinds come from users' references: those that nobody names any more make room. */
const keptKinds = 256;

/** Which resource a reference's kind is, in the versions that the server prefers first, whatever version it names. */
export class KindMapper {
  private readonly known = new LruMap<string, { until: number; mappings: Promise<ResourceDescriptor[]> }>(
    keptKinds,
  );

  constructor(
    private readonly client: Pick<Client, 'request'>,
    private readonly clock: Clock,
  ) {}

  /** Throws where no version of the group has the kind. */
  async of(apiVersion: string, kind: string): Promise<ResourceDescriptor[]> {
    const group = groupOf(apiVersion);
    const key = `${group}/${kind}`;
    const now = this.clock.monotonic();
    const known = this.known.get(key);
    const mappings = known && now < known.until ? known.mappings : this.find(group, kind);
    if (mappings !== known?.mappings) this.known.set(key, { until: now + keptMs, mappings });
    const found = await mappings.catch((error: unknown) => {
      this.known.delete(key);
      throw error;
    });
    if (found.length === 0) throw new Error(`no matches for kind "${kind}" in group "${group}"`);
    return found;
  }

  private async find(group: string, kind: string): Promise<ResourceDescriptor[]> {
    const paths = group === '' ? [{ version: 'v1', path: '/api/v1' }] : await this.versionsOf(group);
    const lists = await Promise.all(
      paths.map(async ({ version, path }) => {
        const { resources } = await this.client.request<APIResourceList>({ method: 'GET', path });
        return resources
          .filter((r) => r.kind === kind && !r.name.includes('/'))
          .map((r) => ({ group, version, resource: r.name, kind, namespaced: r.namespaced }));
      }),
    );
    return lists.flat();
  }

  private async versionsOf(group: string): Promise<{ version: string; path: string }[]> {
    const { groups } = await this.client.request<{ groups: ({ name: string } & APIGroup)[] }>({
      method: 'GET',
      path: '/apis',
    });
    const versions = groups.find(({ name }) => name === group)?.versions ?? [];
    return versions.map(({ groupVersion, version }) => ({ version, path: `/apis/${groupVersion}` }));
  }
}

/** Throws in Go's words for what is no `group/version` or `version`. */
export function groupOf(apiVersion: string): string {
  const parts = apiVersion.split('/');
  if (parts.length > 2) throw new Error(`unexpected GroupVersion string: ${apiVersion}`);
  return parts.length === 2 ? (parts[0] ?? '') : '';
}

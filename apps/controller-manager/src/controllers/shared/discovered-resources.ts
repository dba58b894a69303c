import type { ResourceDescriptor } from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';

interface APIResourceList {
  groupVersion: string;
  resources: Array<{ name: string; kind: string; namespaced: boolean; verbs: string[] }>;
}
interface APIGroupList {
  groups: Array<{ name: string; preferredVersion: { groupVersion: string } }>;
}

export interface DiscoveredResource extends ResourceDescriptor {
  readonly verbs: readonly string[];
}

/** All resources of preferred versions that the server offers now, custom ones included. Failing groups are listed. */
export async function discoverResources(
  client: Client,
): Promise<{ resources: DiscoveredResource[]; failed: string[] }> {
  const groups = await client.request<APIGroupList>({ method: 'GET', path: '/apis' });
  const paths = ['/api/v1', ...groups.groups.map((g) => `/apis/${g.preferredVersion.groupVersion}`)];
  const failed: string[] = [];
  const lists = await Promise.all(
    paths.map((path) =>
      client.request<APIResourceList>({ method: 'GET', path }).catch(() => {
        failed.push(path);
        return undefined;
      }),
    ),
  );
  const resources = lists.flatMap((list) => {
    if (!list) return [];
    const [group = '', version = ''] = list.groupVersion.includes('/')
      ? list.groupVersion.split('/')
      : ['', list.groupVersion];
    return list.resources
      .filter((r) => !r.name.includes('/'))
      .map((r) => ({
        group,
        version,
        resource: r.name,
        kind: r.kind,
        namespaced: r.namespaced,
        verbs: r.verbs,
      }));
  });
  return { resources, failed };
}

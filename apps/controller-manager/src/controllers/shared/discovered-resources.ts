import type { ResourceDescriptor } from '@tinkernetes/api';
import { ignoreNotFound } from '@tinkernetes/apimachinery';
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
  return { resources: lists.flatMap((list) => (list ? resourcesOf(list) : [])), failed };
}

/** The resources of one version, preferred or not; none where it is not served. */
export async function discoverVersion(client: Client, apiVersion: string): Promise<DiscoveredResource[]> {
  const path = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const list = await client.request<APIResourceList>({ method: 'GET', path }).catch(ignoreNotFound);
  return list ? resourcesOf(list) : [];
}

function resourcesOf({ groupVersion, resources }: APIResourceList): DiscoveredResource[] {
  const [group = '', version = ''] = groupVersion.includes('/')
    ? groupVersion.split('/')
    : ['', groupVersion];
  return resources
    .filter(({ name }) => !name.includes('/'))
    .map(({ name, kind, namespaced, verbs }) => ({
      group,
      version,
      resource: name,
      kind,
      namespaced,
      verbs,
    }));
}

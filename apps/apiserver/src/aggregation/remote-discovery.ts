import type { APIResourceFact } from '@tinkernetes/api';
import type { RemoteApi } from './aggregator';
import { understood, type RemoteDocuments } from './remote-documents';

/** A version as aggregated discovery shows it. */
export interface VersionDiscovery {
  version: string;
  resources?: unknown[];
  freshness: string;
}

const aggregatedAccept = ['v2', 'v2beta1']
  .map((v) => `application/json;g=apidiscovery.k8s.io;v=${v};as=APIGroupDiscoveryList`)
  .join(',');

/**
 * What another server serves in one group and version: from its aggregated discovery or, where it has none, from the
 * list of resources. Source: kube-aggregator/pkg/apiserver/handler_discovery.go.
 */
export async function remoteVersion(
  documents: RemoteDocuments,
  remote: RemoteApi,
): Promise<VersionDiscovery> {
  const { group = '', version = '' } = remote.service.spec;
  const { document, isStale } = await documents.get(remote, '/apis', aggregatedAccept);
  const freshness = isStale ? 'Stale' : 'Current';
  if (document?.contentType.includes('as=APIGroupDiscoveryList')) {
    const resources = understood(document, (json) => {
      const ofGroup = (json as DiscoveryList).items.find(({ metadata }) => metadata?.name === group);
      return ofGroup?.versions?.find((v) => v.version === version)?.resources ?? [];
    });
    if (!resources) return { version, freshness: 'Stale' };
    return { version, ...(resources.length > 0 && { resources }), freshness };
  }
  const plain = await documents.get(remote, `/apis/${group}/${version}`, 'application/json');
  const resources =
    plain.document &&
    understood(plain.document, (json) =>
      discoveryResources((json as ResourceList).resources ?? [], { group, version }),
    );
  if (!resources) return { version, freshness: 'Stale' };
  return { version, resources, freshness: plain.isStale ? 'Stale' : 'Current' };
}

interface DiscoveryList {
  items: { metadata?: { name?: string }; versions?: VersionDiscovery[] }[];
}
interface ResourceList {
  resources?: APIResourceFact[];
}

interface ResourceDiscovery {
  resource: string;
  subresources?: object[];
}

/** An APIResourceList's entries as aggregated discovery groups them. */
function discoveryResources(
  facts: readonly APIResourceFact[],
  own: { group: string; version: string },
): ResourceDiscovery[] {
  const out = new Map<string, ResourceDiscovery>();
  const responseKind = ({ group, version, kind }: APIResourceFact) => ({
    group: group ?? own.group,
    version: version ?? own.version,
    kind,
  });
  for (const fact of facts.filter(({ name }) => !name.includes('/'))) {
    out.set(fact.name, {
      resource: fact.name,
      ...{ responseKind: responseKind(fact), scope: fact.namespaced ? 'Namespaced' : 'Cluster' },
      ...{ singularResource: fact.singularName, verbs: fact.verbs },
      ...(fact.shortNames && { shortNames: fact.shortNames }),
      ...(fact.categories && { categories: fact.categories }),
    });
  }
  for (const fact of facts) {
    const [name = '', subresource] = fact.name.split('/');
    const parent = subresource === undefined ? undefined : out.get(name);
    if (!parent) continue;
    (parent.subresources ??= []).push({ subresource, responseKind: responseKind(fact), verbs: fact.verbs });
  }
  return [...out.values()];
}

import { EndpointSlices, Namespaces, Services, type EndpointSlice, type Service } from '@tinkernetes/api';
import type { SharedInformerFactory } from '@tinkernetes/informers';
import type { ClusterView } from './cluster-view';
import { canonicalIPv6, isIPv6 } from './names';

const byService = 'service';
const byIP = 'ip';

/** A view on informers' caches, which the factory keeps up to date once started. */
export function createInformerView(informers: SharedInformerFactory): ClusterView {
  const namespaces = informers.for(Namespaces);
  const services = informers.for(Services);
  const slices = informers.for(EndpointSlices);
  services.addIndex(byIP, ({ spec }: Service) =>
    [...(spec?.clusterIPs ?? []), spec?.clusterIP].flatMap((ip) =>
      ip && ip !== 'None' ? [spelled(ip)] : [],
    ),
  );
  slices.addIndex(byService, ({ metadata }: EndpointSlice) => {
    const name = metadata.labels?.['kubernetes.io/service-name'];
    return name ? [`${metadata.namespace}/${name}`] : [];
  });
  slices.addIndex(byIP, (slice: EndpointSlice) =>
    slice.addressType === 'FQDN' ? [] : (slice.endpoints ?? []).flatMap((e) => e.addresses.map(spelled)),
  );
  return {
    namespaceExists: (namespace) => namespaces.lister.get(namespace) !== undefined,
    service: (namespace, name) => services.lister.get(name, namespace),
    serviceByIP: (address) => services.lister.byIndex(byIP, address)[0],
    slicesOf: (namespace, service) => slices.lister.byIndex(byService, `${namespace}/${service}`),
    slicesByIP: (address) => slices.lister.byIndex(byIP, address),
  };
}

function spelled(address: string): string {
  return isIPv6(address) ? canonicalIPv6(address) : address;
}

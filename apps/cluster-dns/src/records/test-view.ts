import type { EndpointSlice, Service } from '@tinkernetes/api';
import type { ClusterView } from './cluster-view';

/** A view on plain lists, for tests. */
export function viewOf(services: readonly Service[], slices: readonly EndpointSlice[] = []): ClusterView {
  const namespaces = new Set(['default', 'kube-system', ...services.map((s) => s.metadata.namespace ?? '')]);
  return {
    namespaceExists: (namespace) => namespaces.has(namespace),
    service: (namespace, name) =>
      services.find((s) => s.metadata.namespace === namespace && s.metadata.name === name),
    serviceByIP: (address) => services.find((s) => s.spec?.clusterIP === address),
    slicesOf: (namespace, service) =>
      slices.filter(
        ({ metadata }) =>
          metadata.namespace === namespace && metadata.labels?.['kubernetes.io/service-name'] === service,
      ),
    slicesByIP: (address) => slices.filter((s) => s.endpoints?.some((e) => e.addresses.includes(address))),
  };
}

export const web: Service = {
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    clusterIP: '10.96.0.5',
    ports: [
      { name: 'http', port: 80 },
      { name: 'dns', port: 53, protocol: 'UDP' },
    ],
  },
};
export const db: Service = {
  metadata: { name: 'db', namespace: 'default' },
  spec: { clusterIP: 'None', ports: [{ name: 'pg', port: 5432 }] },
};
export const dbSlice: EndpointSlice = {
  metadata: { name: 'db-1', namespace: 'default', labels: { 'kubernetes.io/service-name': 'db' } },
  addressType: 'IPv4',
  endpoints: [
    { addresses: ['10.244.1.2'], hostname: 'db-0', conditions: { ready: true } },
    { addresses: ['10.244.2.2'], conditions: { ready: true } },
    { addresses: ['10.244.2.3'], conditions: { ready: false } },
  ],
  ports: [{ name: 'pg', port: 5432, protocol: 'TCP' }],
};
export const outside: Service = {
  metadata: { name: 'outside', namespace: 'default' },
  spec: { type: 'ExternalName', externalName: 'example.com' },
};
export const alias: Service = {
  metadata: { name: 'alias', namespace: 'default' },
  spec: { type: 'ExternalName', externalName: 'web.default.svc.cluster.local' },
};

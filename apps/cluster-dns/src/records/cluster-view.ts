import type { EndpointSlice, Service } from '@tinkernetes/api';

/** What the records are made of. */
export interface ClusterView {
  namespaceExists(namespace: string): boolean;
  service(namespace: string, name: string): Service | undefined;
  serviceByIP(address: string): Service | undefined;
  slicesOf(namespace: string, service: string): readonly EndpointSlice[];
  /** Slices with an endpoint at that address. */
  slicesByIP(address: string): readonly EndpointSlice[];
}

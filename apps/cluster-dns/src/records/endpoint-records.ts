import type { Endpoint, EndpointSlice } from '@tinkernetes/api';
import { dashed } from './names';

export interface EndpointPort {
  name: string;
  protocol: string;
  port: number;
}

/** A ready endpoint, as records name it. */
export interface NamedEndpoint {
  /** Its hostname, or its address with dashes. */
  label: string;
  address: string;
  ports: readonly EndpointPort[];
}

/**
 * Endpoints that records are made for. Whether a Service publishes addresses that are not ready is settled by the
 * EndpointSlice controller, which calls them ready then.
 */
export function readyEndpoints(slices: readonly EndpointSlice[]): NamedEndpoint[] {
  const byAddress = new Map<string, NamedEndpoint>();
  for (const slice of slices) {
    if (slice.addressType === 'FQDN') continue;
    const ports = (slice.ports ?? []).flatMap(({ name = '', protocol = 'TCP', port }) =>
      port === undefined ? [] : [{ name, protocol, port }],
    );
    for (const endpoint of slice.endpoints ?? []) {
      if (endpoint.conditions?.ready === false) continue;
      for (const address of endpoint.addresses) {
        byAddress.set(address, { label: labelOf(endpoint, address), address, ports });
      }
    }
  }
  return [...byAddress.values()];
}

export function labelOf(endpoint: Endpoint, address: string): string {
  return endpoint.hostname || dashed(address);
}

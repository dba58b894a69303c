import type { Endpoints, EndpointSlice, Service } from '@tinkernetes/api';
import { age, formatLabels, orNone, orUnset } from './cells';

/** Name, Type, Cluster-IP, External-IP, Port(s), Age, Selector. Source: printers/internalversion printService. */
export function serviceCells(service: Service, now: number): unknown[] {
  const { spec, metadata } = service;
  const ports = (spec?.ports ?? []).map(({ port, nodePort, protocol }) =>
    nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`,
  );
  return [
    metadata.name,
    spec?.type ?? '',
    orNone(spec?.clusterIPs?.[0]),
    externalIps(service),
    orNone(ports.join(',')),
    age(service, now),
    formatLabels(spec?.selector),
  ];
}

function externalIps({ spec, status }: Service): string {
  const own = spec?.externalIPs ?? [];
  switch (spec?.type) {
    case 'LoadBalancer': {
      const points = (status?.loadBalancer?.ingress ?? []).map((point) => point.ip ?? point.hostname ?? '');
      const all = [...points, ...own];
      return all.length > 0 ? all.join(',') : '<pending>';
    }
    case 'ExternalName':
      return spec.externalName ?? '';
    case 'ClusterIP':
    case 'NodePort':
      return own.length > 0 ? own.join(',') : '<none>';
    default:
      return '<unknown>';
  }
}

const maxShown = 3;

/** Name, Endpoints, Age. */
export function endpointsCells(endpoints: Endpoints, now: number): unknown[] {
  const pairs = (endpoints.subsets ?? []).flatMap((subset) => {
    const addresses = subset.addresses ?? [];
    if (!subset.ports?.length) return addresses.map((address) => address.ip);
    return subset.ports.flatMap((port) => addresses.map((address) => withPort(address.ip, port.port)));
  });
  const shown = pairs.slice(0, maxShown).join(',');
  const rest = pairs.length - maxShown;
  return [
    endpoints.metadata.name,
    orNone(rest > 0 ? `${shown} + ${rest} more...` : shown),
    age(endpoints, now),
  ];
}

const withPort = (ip: string, port: number): string =>
  ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;

/** Name, AddressType, Ports, Endpoints, Age. */
export function endpointSliceCells(slice: EndpointSlice, now: number): unknown[] {
  const ports = (slice.ports ?? []).map((port) => (port.port === undefined ? '*' : String(port.port)));
  const addresses = (slice.endpoints ?? []).flatMap((endpoint) => endpoint.addresses);
  return [
    slice.metadata.name,
    slice.addressType,
    listOf(ports, orUnset),
    listOf(addresses, orUnset),
    age(slice, now),
  ];
}

function listOf(values: readonly string[], whenEmpty: (text: string) => string): string {
  if (values.length === 0) return whenEmpty('');
  const shown = values.slice(0, maxShown).join(',');
  return values.length > maxShown ? `${shown} + ${values.length - maxShown} more...` : shown;
}

import { EndpointSlices } from '@tinkernetes/api';
import type { DiscoveryV1EndpointPort, Endpoint, EndpointSlice } from '@tinkernetes/api';
import {
  child,
  duplicate,
  familyOf,
  invalid,
  isDns1123Label,
  isDns1123Subdomain,
  isFullyQualifiedDomainName,
  isQualifiedName,
  required,
  tooMany,
} from '@tinkernetes/apimachinery';
import { endpointSliceCells } from '../../../printers/services';
import { defineStrategy } from '../../define-strategy';
import { fill, mapList, mapMember } from '../../fill';
import { immutable } from '../../immutable';
import { protocols } from '../../pod-spec/ports';
import { check, eachOf, requireOneOf } from '../../rules';
import type { Errors } from '../../rules';
import { nonSpecialIp } from '../../core/endpoints/addresses';

const maxEndpoints = 1000;
const maxAddresses = 100;
const maxPorts = 20_000;

function validateEndpoint(endpoint: Endpoint, path: string, type: string): Errors {
  const at = child(path, 'addresses');
  const addresses = endpoint.addresses ?? [];
  const errors: Errors = [];
  if (addresses.length === 0) errors.push(required(at, 'must contain at least 1 address'));
  if (addresses.length > maxAddresses) errors.push(tooMany(at, addresses.length, maxAddresses));
  const seen = new Set<string>();
  return [
    ...errors,
    ...eachOf(at, addresses, (address, addressPath) => {
      const isDuplicate = seen.has(address);
      seen.add(address);
      return [
        ...(isDuplicate ? [duplicate(addressPath, address)] : []),
        ...validateAddress(address, addressPath, type),
      ];
    }),
    ...(endpoint.hostname ? check(child(path, 'hostname'), endpoint.hostname, isDns1123Label) : []),
    ...(endpoint.nodeName ? check(child(path, 'nodeName'), endpoint.nodeName, isDns1123Subdomain) : []),
  ];
}

function validateAddress(address: string, path: string, type: string): Errors {
  const list = path.slice(0, path.lastIndexOf('['));
  switch (type) {
    case 'FQDN':
      return check(path, address, isFullyQualifiedDomainName);
    case 'IPv4':
    case 'IPv6': {
      // Upstream names the list, not the element, for addresses of the other family.
      const family = familyOf(address) === type ? [] : [invalid(list, address, `must be an ${type} address`)];
      return [...family, ...nonSpecialIp(path, address)];
    }
    default:
      return [];
  }
}

function validatePorts(ports: readonly DiscoveryV1EndpointPort[] | undefined): Errors {
  if ((ports?.length ?? 0) > maxPorts) return [tooMany('ports', ports?.length ?? 0, maxPorts)];
  const names = new Set<string>();
  return eachOf('ports', ports, (port, at) => {
    const name = port.name ?? '';
    const errors = name ? check(child(at, 'name'), name, isDns1123Label) : [];
    if (names.has(name)) errors.push(duplicate(child(at, 'name'), name));
    names.add(name);
    return [
      ...errors,
      ...requireOneOf(child(at, 'protocol'), port.protocol, protocols),
      ...(port.appProtocol ? check(child(at, 'appProtocol'), port.appProtocol, isQualifiedName) : []),
    ];
  });
}

function validate(slice: EndpointSlice): Errors {
  const errors = requireOneOf('addressType', slice.addressType, ['FQDN', 'IPv4', 'IPv6']);
  const endpoints = slice.endpoints ?? [];
  if (endpoints.length > maxEndpoints) errors.push(tooMany('endpoints', endpoints.length, maxEndpoints));
  return [
    ...errors,
    ...eachOf('endpoints', endpoints, (endpoint, at) => validateEndpoint(endpoint, at, slice.addressType)),
    ...validatePorts(slice.ports),
  ];
}

/** Source: k8s.io/kubernetes/pkg/registry/discovery/endpointslice. */
export const endpointSliceStrategy = defineStrategy(EndpointSlices, {
  hasGeneration: true,
  default: (slice) =>
    mapMember(slice, 'ports', (ports) => mapList(ports, (port) => fill(port, { name: '', protocol: 'TCP' }))),
  validate,
  validateUpdate: (slice, old) => [
    ...validate(slice),
    ...immutable('addressType', slice.addressType, old.addressType),
  ],
  warnings: (slice) =>
    slice.addressType === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : [],
  tableCells: endpointSliceCells,
});

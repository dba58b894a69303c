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
  isLabelValue,
  isQualifiedName,
  isCanonicalIp,
  required,
  semanticEqual,
  tooMany,
} from '@tinkernetes/apimachinery';
import { endpointSliceCells } from '../../../printers/services';
import { defineStrategy } from '../../define-strategy';
import { fill, mapList, mapMember } from '../../fill';
import { immutable } from '../../immutable';
import { specChanged } from '../../generic/object-meta';
import { protocols } from '../../pod-spec/ports';
import { check, eachOf, oneOf, requireOneOf } from '../../rules';
import type { NameCheck } from '@tinkernetes/apimachinery';
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
  const given = (field: string, value: string | undefined, rule: NameCheck): Errors =>
    value === undefined ? [] : check(child(path, field), value, rule);
  const { forZones, forNodes } = endpoint.hints ?? {};
  return [
    ...errors,
    ...eachOf(at, addresses, (address, addressPath) => validateAddress(address, addressPath, type)),
    ...given('hostname', endpoint.hostname, isDns1123Label),
    ...given('nodeName', endpoint.nodeName, isDns1123Subdomain),
    ...validateHints(forZones, child(path, 'hints', 'forZones'), isLabelValue),
    ...validateHints(forNodes, child(path, 'hints', 'forNodes'), isDns1123Subdomain),
  ];
}

const mostHints = 8;

function validateHints(
  hints: ReadonlyArray<{ name: string }> | undefined,
  path: string,
  rule: NameCheck,
): Errors {
  const list = hints ?? [];
  return [
    ...(list.length > mostHints ? [tooMany(path, list.length, mostHints)] : []),
    ...eachOf(path, list, ({ name }, at, i) => [
      ...(list.slice(0, i).some((other) => other.name === name) ? [duplicate(child(at, 'name'), name)] : []),
      ...check(child(at, 'name'), name, rule),
    ]),
  ];
}

function validateAddress(address: string, path: string, type: string): Errors {
  const list = path.slice(0, path.lastIndexOf('['));
  switch (type) {
    case 'FQDN':
      return address ? check(path, address, isFullyQualifiedDomainName) : [required(path)];
    case 'IPv4':
    case 'IPv6': {
      // Upstream names the list, not the element, for addresses of the other family.
      const problems = isCanonicalIp(address);
      if (problems.length > 0) return problems.map((text) => invalid(path, address, text));
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
      ...(port.protocol === undefined
        ? [required(child(at, 'protocol'))]
        : oneOf(child(at, 'protocol'), port.protocol, protocols)),
      ...(port.appProtocol !== undefined
        ? check(child(at, 'appProtocol'), port.appProtocol, isQualifiedName)
        : []),
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

const withoutTopology = (slice: EndpointSlice): EndpointSlice =>
  mapMember(slice, 'endpoints', (endpoints) =>
    mapList(endpoints, (endpoint) => {
      if (!endpoint.deprecatedTopology) return endpoint;
      const { deprecatedTopology: _, ...kept } = endpoint;
      return kept;
    }),
  );

/** Source: k8s.io/kubernetes/pkg/registry/discovery/endpointslice. */
export const endpointSliceStrategy = defineStrategy(EndpointSlices, {
  hasGeneration: true,
  // Labels count, too, and so does topology that is dropped afterwards.
  changesGeneration: (slice, old) =>
    specChanged(slice, old, false) || !semanticEqual(slice.metadata.labels, old.metadata.labels),
  default: (slice) =>
    mapMember(slice, 'ports', (ports) => mapList(ports, (port) => fill(port, { name: '', protocol: 'TCP' }))),
  // Topology belonged to an older version of the API.
  prepareForCreate: withoutTopology,
  prepareForUpdate: (slice, old) =>
    semanticEqual(slice.endpoints, old.endpoints) ? slice : withoutTopology(slice),
  validate,
  validateUpdate: (slice, old) => [
    ...validate(slice),
    ...immutable('addressType', slice.addressType, old.addressType),
  ],
  warnings: (slice) =>
    slice.addressType === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : [],
  tableCells: endpointSliceCells,
});

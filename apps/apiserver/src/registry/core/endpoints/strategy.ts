import { EndpointsResource } from '@tinkernetes/api';
import type { EndpointAddress, EndpointSubset } from '@tinkernetes/api';
import {
  child,
  isDns1123Label,
  isDns1123Subdomain,
  isQualifiedName,
  isValidIp,
  required,
  warningsForIp,
} from '@tinkernetes/apimachinery';
import { endpointsCells } from '../../../printers/services';
import { defineStrategy } from '../../define-strategy';
import { fill, mapList, mapMember } from '../../fill';
import { protocols } from '../../pod-spec/ports';
import { check, eachOf, portNumber, requireOneOf } from '../../rules';
import type { Errors } from '../../rules';
import { nonSpecialIp } from './addresses';

function validateAddress(address: EndpointAddress, path: string): Errors {
  const at = child(path, 'ip');
  return [
    ...check(at, address.ip, isValidIp),
    ...(address.hostname ? check(child(path, 'hostname'), address.hostname, isDns1123Label) : []),
    ...(address.nodeName === undefined
      ? []
      : check(child(path, 'nodeName'), address.nodeName, isDns1123Subdomain)),
    ...nonSpecialIp(at, address.ip),
  ];
}

function validateSubset(subset: EndpointSubset, path: string): Errors {
  const { addresses = [], notReadyAddresses = [], ports = [] } = subset;
  const errors: Errors = [];
  if (addresses.length === 0 && notReadyAddresses.length === 0) {
    errors.push(required(path, 'must specify `addresses` or `notReadyAddresses`'));
  }
  return [
    ...errors,
    ...eachOf(child(path, 'addresses'), addresses, validateAddress),
    ...eachOf(child(path, 'notReadyAddresses'), notReadyAddresses, validateAddress),
    ...eachOf(child(path, 'ports'), ports, (port, at) => [
      ...(port.name
        ? check(child(at, 'name'), port.name, isDns1123Label)
        : ports.length > 1
          ? [required(child(at, 'name'))]
          : []),
      ...portNumber(child(at, 'port'), port.port),
      ...requireOneOf(child(at, 'protocol'), port.protocol, protocols),
      ...(port.appProtocol !== undefined
        ? check(child(at, 'appProtocol'), port.appProtocol, isQualifiedName)
        : []),
    ]),
  ];
}

/** Source: k8s.io/kubernetes/pkg/registry/core/endpoint. */
export const endpointsStrategy = defineStrategy(EndpointsResource, {
  allowCreateOnUpdate: true,
  deprecationWarning: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  default: (endpoints) =>
    mapMember(endpoints, 'subsets', (subsets) =>
      mapList(subsets, (subset) =>
        mapMember(subset, 'ports', (ports) => mapList(ports, (port) => fill(port, { protocol: 'TCP' }))),
      ),
    ),
  warnings: ({ subsets }) =>
    (subsets ?? []).flatMap(({ addresses, notReadyAddresses }, i) =>
      Object.entries({ addresses, notReadyAddresses }).flatMap(([list, of = []]) =>
        of.flatMap(({ ip }, n) => warningsForIp(`subsets[${i}].${list}[${n}].ip`, ip)),
      ),
    ),
  validate: (endpoints) => eachOf('subsets', endpoints.subsets, validateSubset),
  tableCells: endpointsCells,
});

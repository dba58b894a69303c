import type { Service, ServicePort, ServiceSpec } from '@tinkernetes/api';
import {
  child,
  duplicate,
  forbidden,
  invalid,
  isDns1123Label,
  isDns1123Subdomain,
  isQualifiedName,
  isValidCidr,
  isValidIp,
  required,
  semanticEqual,
  validateLabels,
} from '@tinkernetes/apimachinery';
import { protocols } from '../../pod-spec/ports';
import { check, eachOf, oneOf, portNumber, portNumberOrName, requireOneOf } from '../../rules';
import type { Errors } from '../../rules';
import { nonSpecialIp } from '../endpoints/addresses';
import { validateClusterIps } from './cluster-ips';
import { isHeadless, needsHealthCheckNodePort } from './prepare';

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const maxAffinitySeconds = 86_400;

/** Source: core/validation.ValidateService. */
export function validateService(service: Service): Errors {
  const spec = service.spec ?? {};
  const ports = spec.ports ?? [];
  const errors: Errors = [];
  if (ports.length === 0 && !isHeadless(spec) && spec.type !== 'ExternalName')
    errors.push(required('spec.ports'));
  return [
    ...errors,
    ...validateType(spec),
    ...validatePorts(spec),
    ...validateLabels(spec.selector, 'spec.selector'),
    ...validateAffinity(spec),
    ...validateClusterIps(spec),
    ...eachOf('spec.externalIPs', spec.externalIPs, (address, at) => {
      const problems = check(at, address, isValidIp);
      return problems.length > 0 ? problems : nonSpecialIp(at, address);
    }),
    ...requireOneOf('spec.type', spec.type, types),
    ...validateRepeatedPorts(spec),
    ...validateLoadBalancer(spec),
    ...validatePolicies(spec),
  ];
}

function validateType(spec: ServiceSpec): Errors {
  switch (spec.type) {
    case 'LoadBalancer':
    case 'NodePort':
      return notHeadless(spec);
    case 'ExternalName':
      return validateExternalName(spec);
    default:
      return [];
  }
}

const notHeadless = (spec: ServiceSpec): Errors =>
  isHeadless(spec)
    ? [
        invalid(
          'spec.clusterIPs[0]',
          spec.clusterIPs?.[0],
          `may not be set to 'None' for ${spec.type} services`,
        ),
      ]
    : [];

function validateExternalName(spec: ServiceSpec): Errors {
  const errors: Errors = [];
  const refused = 'may not be set for ExternalName services';
  if (spec.clusterIPs?.length) errors.push(forbidden('spec.clusterIPs', refused));
  if (spec.ipFamilies?.length) errors.push(forbidden('spec.ipFamilies', refused));
  if (spec.ipFamilyPolicy) errors.push(forbidden('spec.ipFamilyPolicy', refused));
  const name = (spec.externalName ?? '').replace(/\.$/, '');
  return name === ''
    ? [...errors, required('spec.externalName')]
    : [...errors, ...check('spec.externalName', name, isDns1123Subdomain)];
}

/** As upstream prints the key of a duplicate: an internal ServicePort with only these two set. */
const portKey = ({ protocol, port }: ServicePort) => ({
  Name: '',
  Protocol: protocol,
  AppProtocol: null,
  Port: port,
  TargetPort: 0,
  NodePort: 0,
});

function validatePorts({ ports = [] }: ServiceSpec): Errors {
  const names = new Set<string>();
  return eachOf('spec.ports', ports, (port, at) =>
    validatePort(port, { at, isNameRequired: ports.length > 1, names }),
  );
}

/** No port and no node port twice over the same protocol. */
function validateRepeatedPorts({ type, ports = [] }: ServiceSpec): Errors {
  const repeated = (key: (port: ServicePort) => string | undefined) => (port: ServicePort, i: number) =>
    key(port) !== undefined && ports.slice(0, i).some((other) => key(other) === key(port));
  const isNodePortRepeated = repeated(({ protocol, nodePort }) =>
    nodePort ? `${protocol}/${nodePort}` : undefined,
  );
  const isRepeated = repeated(({ protocol, port }) => `${protocol}/${port}`);
  return [
    ...eachOf('spec.ports', type === 'ClusterIP' ? ports : [], ({ nodePort }, at) =>
      nodePort ? [forbidden(child(at, 'nodePort'), "may not be used when `type` is 'ClusterIP'")] : [],
    ),
    ...eachOf('spec.ports', ports, (port, at, i) =>
      isNodePortRepeated(port, i) ? [duplicate(child(at, 'nodePort'), port.nodePort)] : [],
    ),
    ...eachOf('spec.ports', ports, (port, at, i) =>
      isRepeated(port, i) ? [duplicate(at, portKey(port))] : [],
    ),
  ];
}

interface PortContext {
  at: string;
  isNameRequired: boolean;
  names: Set<string>;
}
function validatePort(port: ServicePort, { at, isNameRequired, names }: PortContext): Errors {
  const errors: Errors = [];
  if (port.name) {
    errors.push(...check(child(at, 'name'), port.name, isDns1123Label));
    if (names.has(port.name)) errors.push(duplicate(child(at, 'name'), port.name));
    names.add(port.name);
  } else if (isNameRequired) {
    errors.push(required(child(at, 'name')));
  }
  return [
    ...errors,
    ...portNumber(child(at, 'port'), port.port),
    ...requireOneOf(child(at, 'protocol'), port.protocol, protocols),
    ...portNumberOrName(child(at, 'targetPort'), port.targetPort),
    ...(port.appProtocol !== undefined
      ? check(child(at, 'appProtocol'), port.appProtocol, isQualifiedName)
      : []),
  ];
}

function validateAffinity(spec: ServiceSpec): Errors {
  const errors = requireOneOf('spec.sessionAffinity', spec.sessionAffinity, ['ClientIP', 'None']);
  const path = 'spec.sessionAffinityConfig';
  const config = spec.sessionAffinityConfig;
  if (spec.sessionAffinity === 'None') {
    return config ? [...errors, forbidden(path, 'must not be set when session affinity is None')] : errors;
  }
  if (spec.sessionAffinity !== 'ClientIP') return errors;
  const seconds = config?.clientIP?.timeoutSeconds;
  if (seconds === undefined) return [...errors, required(path, 'when session affinity type is ClientIP')];
  if (seconds > 0 && seconds <= maxAffinitySeconds) return errors;
  const detail = `must be greater than 0 and less than ${maxAffinitySeconds}`;
  return [...errors, invalid(`${path}.clientIP.timeoutSeconds`, seconds, detail)];
}

const onlyFor = (type: string) => `may only be used when \`type\` is '${type}'`;

function validateLoadBalancer(spec: ServiceSpec): Errors {
  const isBalancer = spec.type === 'LoadBalancer';
  const errors: Errors = [];
  if (spec.loadBalancerSourceRanges?.length) {
    if (!isBalancer) errors.push(forbidden('spec.LoadBalancerSourceRanges', onlyFor('LoadBalancer')));
    errors.push(
      ...eachOf('spec.LoadBalancerSourceRanges', spec.loadBalancerSourceRanges, (range, at) =>
        check(at, range.trim(), isValidCidr),
      ),
    );
  }
  if (isBalancer && spec.allocateLoadBalancerNodePorts === undefined) {
    errors.push(required('spec.allocateLoadBalancerNodePorts'));
  }
  if (!isBalancer && spec.allocateLoadBalancerNodePorts !== undefined) {
    errors.push(forbidden('spec.allocateLoadBalancerNodePorts', onlyFor('LoadBalancer')));
  }
  if (spec.loadBalancerClass !== undefined) {
    if (!isBalancer) errors.push(forbidden('spec.loadBalancerClass', onlyFor('LoadBalancer')));
    else errors.push(...check('spec.loadBalancerClass', spec.loadBalancerClass, isQualifiedName));
  }
  return errors;
}

function validatePolicies(spec: ServiceSpec): Errors {
  const isExternal = spec.type === 'NodePort' || spec.type === 'LoadBalancer';
  const errors: Errors = [];
  const path = 'spec.externalTrafficPolicy';
  if (isExternal || spec.externalIPs?.length) {
    if (isExternal || spec.externalTrafficPolicy) {
      errors.push(...requireOneOf(path, spec.externalTrafficPolicy, ['Cluster', 'Local']));
    }
  } else if (spec.externalTrafficPolicy) {
    errors.push(
      invalid(path, spec.externalTrafficPolicy, 'may only be set for externally-accessible services'),
    );
  }
  if (spec.healthCheckNodePort) {
    const isUsed = spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';
    if (!isUsed) {
      const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
      errors.push(invalid('spec.healthCheckNodePort', spec.healthCheckNodePort, detail));
    }
  }
  if (spec.healthCheckNodePort !== undefined)
    errors.push(...portNumber('spec.healthCheckNodePort', spec.healthCheckNodePort));
  errors.push(
    ...oneOf('spec.internalTrafficPolicy', spec.internalTrafficPolicy, ['Cluster', 'Local']),
    ...oneOf('spec.trafficDistribution', spec.trafficDistribution, [
      'PreferClose',
      'PreferSameZone',
      'PreferSameNode',
    ]),
  );
  return errors;
}

/** What an update may not change. Source: core/validation.ValidateServiceUpdate. */
export function validateServiceUpdate(service: Service, old: Service): Errors {
  const spec = service.spec ?? {};
  const oldSpec = old.spec ?? {};
  const errors: Errors = [];
  const isSettled = oldSpec.type !== 'ExternalName' && spec.type !== 'ExternalName';
  const [before] = oldSpec.clusterIPs ?? [];
  const [now] = spec.clusterIPs ?? [];
  if (isSettled && before && now !== before) {
    errors.push(invalid('spec.clusterIPs[0]', spec.clusterIPs ?? null, 'may not change once set'));
  }
  const wasBalancer = oldSpec.type === 'LoadBalancer' && spec.type === 'LoadBalancer';
  if (wasBalancer && !semanticEqual(spec.loadBalancerClass, oldSpec.loadBalancerClass)) {
    errors.push(invalid('spec.loadBalancerClass', spec.loadBalancerClass ?? null, 'may not change once set'));
  }
  const [port, portBefore] = [spec.healthCheckNodePort, oldSpec.healthCheckNodePort];
  if (needsHealthCheckNodePort(oldSpec) && needsHealthCheckNodePort(spec) && port !== portBefore)
    errors.push(forbidden('spec.healthCheckNodePort', 'field is immutable'));
  return [...errors, ...validateService(service)];
}

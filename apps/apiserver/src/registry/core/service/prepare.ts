import type { Service, ServiceSpec } from '@tinkernetes/api';

const needsClusterIp = (spec: ServiceSpec): boolean => spec.type !== 'ExternalName';
const needsNodePort = (spec: ServiceSpec): boolean =>
  spec.type === 'NodePort' || (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false);
export const needsHealthCheckNodePort = (spec: ServiceSpec): boolean =>
  spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';
export const isHeadless = (spec: ServiceSpec): boolean =>
  spec.clusterIPs?.[0] === 'None' || spec.clusterIP === 'None';

/** Source: pkg/api/service.ExternallyAccessible. */
const isReachedFromOutside = ({ type, externalIPs }: ServiceSpec): boolean =>
  type === 'NodePort' || type === 'LoadBalancer' || (type === 'ClusterIP' && (externalIPs?.length ?? 0) > 0);

/** Keeps the old singular field and the list that replaced it in step. Source: service.normalizeClusterIPs. */
export function syncClusterIps(spec: ServiceSpec, old?: ServiceSpec): ServiceSpec {
  const { clusterIP, clusterIPs } = spec;
  if (!old) return clusterIP && !clusterIPs?.length ? { ...spec, clusterIPs: [clusterIP] } : spec;
  const isSingleChanged = clusterIP !== old.clusterIP;
  const isListChanged = JSON.stringify(clusterIPs) !== JSON.stringify(old.clusterIPs);
  if (!isSingleChanged || isListChanged) return spec;
  return { ...spec, clusterIPs: clusterIP ? [clusterIP] : undefined };
}

/** Values that the server had chosen stay when an update leaves them out. Source: service.patchAllocatedValues. */
function keepAllocated(spec: ServiceSpec, old: ServiceSpec): ServiceSpec {
  let result = spec;
  if (needsClusterIp(spec) && needsClusterIp(old)) {
    if (!result.clusterIP) result = { ...result, clusterIP: old.clusterIP };
    if (!result.clusterIPs?.length) result = { ...result, clusterIPs: old.clusterIPs };
  }
  if (needsNodePort(spec) && needsNodePort(old)) result = keepNodePorts(result, old);
  if (needsHealthCheckNodePort(spec) && needsHealthCheckNodePort(old) && !result.healthCheckNodePort) {
    result = { ...result, healthCheckNodePort: old.healthCheckNodePort };
  }
  return result;
}

function keepNodePorts(spec: ServiceSpec, old: ServiceSpec): ServiceSpec {
  const key = (port: { protocol?: string; port: number }) => `${port.protocol ?? 'TCP'}/${port.port}`;
  const before = new Map((old.ports ?? []).map((port) => [key(port), port.nodePort]));
  const taken = new Set((spec.ports ?? []).map((port) => port.nodePort));
  return {
    ...spec,
    ports: spec.ports?.map((port) => {
      const kept = before.get(key(port));
      return port.nodePort || !kept || taken.has(kept) ? port : { ...port, nodePort: kept };
    }),
  };
}

/** What belongs to the old type vanishes with it, unless the update sets it anew. Source: service.dropTypeDependentFields. */
function dropTypeDependent(spec: ServiceSpec, old: ServiceSpec): ServiceSpec {
  let result = spec;
  const same = (name: keyof ServiceSpec) => JSON.stringify(spec[name]) === JSON.stringify(old[name]);
  if (needsClusterIp(old) && !needsClusterIp(spec) && same('clusterIP') && same('clusterIPs')) {
    result = { ...result, clusterIP: undefined, clusterIPs: undefined };
  }
  if (needsClusterIp(old) && !needsClusterIp(spec)) {
    if (same('ipFamilies')) result = { ...result, ipFamilies: undefined };
    if (same('ipFamilyPolicy')) result = { ...result, ipFamilyPolicy: undefined };
    if (same('internalTrafficPolicy')) result = { ...result, internalTrafficPolicy: undefined };
  }
  if (needsNodePort(old) && !needsNodePort(spec)) {
    const before = new Set((old.ports ?? []).map((port) => port.nodePort));
    const ports = result.ports?.map((port) =>
      before.has(port.nodePort) ? { ...port, nodePort: undefined } : port,
    );
    result = { ...result, ports };
  }
  if (needsHealthCheckNodePort(old) && !needsHealthCheckNodePort(spec) && same('healthCheckNodePort')) {
    result = { ...result, healthCheckNodePort: undefined };
  }
  if (isReachedFromOutside(old) && !isReachedFromOutside(spec) && same('externalTrafficPolicy')) {
    result = { ...result, externalTrafficPolicy: undefined };
  }
  if (old.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    if (same('allocateLoadBalancerNodePorts'))
      result = { ...result, allocateLoadBalancerNodePorts: undefined };
    if (same('loadBalancerClass')) result = { ...result, loadBalancerClass: undefined };
  }
  return result;
}

/** Families are settled when the addresses are: one family, that of the address or IPv4. */
export function settleFamilies(spec: ServiceSpec): ServiceSpec {
  if (!needsClusterIp(spec)) return spec;
  // Who brings addresses of his own for no selector is taken to have those of both families.
  const isOpen = isHeadless(spec) && Object.keys(spec.selector ?? {}).length === 0;
  if (isOpen && !spec.ipFamilyPolicy && !spec.ipFamilies?.length)
    return { ...spec, ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' };
  const first = spec.clusterIPs?.[0];
  const family = first?.includes(':') ? 'IPv6' : 'IPv4';
  return {
    ...spec,
    ipFamilies: spec.ipFamilies?.length ? spec.ipFamilies : [family],
    ipFamilyPolicy: spec.ipFamilyPolicy ?? 'SingleStack',
  };
}

export function prepareServiceUpdate(service: Service, old: Service): Service {
  const oldSpec = old.spec ?? {};
  const spec = keepAllocated(syncClusterIps(service.spec ?? {}, oldSpec), oldSpec);
  return { ...service, spec: settleFamilies(dropTypeDependent(spec, oldSpec)) };
}

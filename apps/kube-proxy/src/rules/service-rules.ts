import type { EndpointSlice, Service, ServicePort } from '@tinkernetes/api';
import type { Rule } from '@tinkernetes/vnet';
import {
  chooseEndpoints,
  isProxied,
  type EndpointChoice,
  type IPFamily,
  type ServiceEndpoint,
  type Topology,
} from './endpoints';

/** What the rules of one Service depend on. */
export interface ServiceRulesInput {
  service: Service;
  slices: readonly EndpointSlice[];
  topology: Topology;
  /** This node's Pods: for them a Service's external address is a way into the cluster, not out of it. */
  podCIDRs: readonly string[];
}

const defaultAffinitySeconds = 10_800;

/**
 * The NAT rules of one Service on one node: its cluster IPs, node ports, external IPs and load balancer addresses.
 * Pure. Source: k8s.io/kubernetes/pkg/proxy/iptables; https://kubernetes.io/docs/reference/networking/virtual-ips/
 */
export function serviceRules(input: ServiceRulesInput): Rule[] {
  const { service } = input;
  if (!isProxied(service)) return [];
  return (service.spec?.ports ?? []).flatMap((port) =>
    familiesOf(service).flatMap((family) => portRules(input, port, family)),
  );
}

function portRules(
  { service, slices, topology, podCIDRs }: ServiceRulesInput,
  port: ServicePort,
  family: IPFamily,
): Rule[] {
  const spec = service.spec ?? {};
  const choice = chooseEndpoints({ servicePort: port, slices, family, topology });
  const base = {
    name: `${service.metadata.namespace}/${service.metadata.name}${port.name ? `:${port.name}` : ''}`,
    protocol: port.protocol ?? 'TCP',
    ...(spec.sessionAffinity === 'ClientIP'
      ? { affinitySeconds: spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? defaultAffinitySeconds }
      : {}),
  } satisfies Partial<Rule>;

  const internal = trafficRule(choice, spec.internalTrafficPolicy === 'Local');
  const rules: Rule[] = [
    { ...base, ...internal, port: port.port, destinations: ofFamily(clusterIPsOf(service), family) },
  ];
  const external = externalRules(choice, {
    local: spec.externalTrafficPolicy === 'Local',
    podCIDRs: ofFamily(podCIDRs, family),
  });
  const externalIPs = ofFamily(spec.externalIPs ?? [], family);
  if (externalIPs.length > 0) {
    rules.push(...external.map((rule) => ({ ...base, ...rule, port: port.port, destinations: externalIPs })));
  }
  rules.push(
    ...loadBalancerRules(service, family, external).map((rule) => ({ ...base, ...rule, port: port.port })),
  );
  if (port.nodePort) {
    const { nodePort } = port;
    rules.push(...external.map((rule) => ({ ...base, ...rule, port: nodePort, nodePort: true })));
  }
  return rules;
}

type Verdict = Pick<Rule, 'action' | 'endpoints' | 'masquerade' | 'sourceRanges'>;

function trafficRule(choice: EndpointChoice, localOnly: boolean): Verdict {
  const endpoints = localOnly ? choice.local : choice.cluster;
  if (endpoints.length > 0) return { action: 'DNAT', endpoints: endpoints.map(addressOf) };
  // Nobody serves at all: say so. Somebody else may: be silent, as if this node had no such address.
  return { action: localOnly && choice.anywhere ? 'DROP' : 'REJECT' };
}

/**
 * Traffic from outside. With policy Cluster the answer must come back through this node, so the source becomes its
 * address; with Local the client's address is kept, and only this node's endpoints are used.
 */
function externalRules(
  choice: EndpointChoice,
  options: { local: boolean; podCIDRs: readonly string[] },
): Verdict[] {
  const everywhere = trafficRule(choice, false);
  if (!options.local)
    return [{ ...everywhere, ...(everywhere.action === 'DNAT' ? { masquerade: true } : {}) }];
  const outside = trafficRule(choice, true);
  // Pods of this node use an external address of the cluster's own Service as if it were its cluster IP.
  if (options.podCIDRs.length === 0) return [outside];
  return [{ ...everywhere, sourceRanges: options.podCIDRs }, outside];
}

function loadBalancerRules(
  service: Service,
  family: IPFamily,
  external: readonly Verdict[],
): (Verdict & Pick<Rule, 'destinations'>)[] {
  const spec = service.spec ?? {};
  const ingress = service.status?.loadBalancer?.ingress ?? [];
  // `Proxy` addresses are handled by the load balancer itself (KEP-1860).
  const addresses = ingress.flatMap((i) => (i.ip && i.ipMode !== 'Proxy' ? [i.ip] : []));
  const destinations = ofFamily(addresses, family);
  if (destinations.length === 0) return [];
  const sourceRanges = ofFamily(spec.loadBalancerSourceRanges ?? [], family);
  if (sourceRanges.length === 0) return external.map((verdict) => ({ ...verdict, destinations }));
  return [
    ...external.map((verdict) => ({ sourceRanges, ...verdict, destinations })),
    { action: 'DROP', destinations },
  ];
}

const addressOf = ({ address, port }: ServiceEndpoint) => ({ address, port });

function clusterIPsOf({ spec }: Service): string[] {
  return spec?.clusterIPs?.length ? spec.clusterIPs : spec?.clusterIP ? [spec.clusterIP] : [];
}

function familiesOf(service: Service): IPFamily[] {
  return [...new Set(clusterIPsOf(service).map(familyOf))];
}

/** Of an address or a CIDR. */
function familyOf(address: string): IPFamily {
  return address.includes(':') ? 'IPv6' : 'IPv4';
}

function ofFamily(addresses: readonly string[], family: IPFamily): string[] {
  return addresses.map((a) => a.trim()).filter((a) => familyOf(a) === family);
}

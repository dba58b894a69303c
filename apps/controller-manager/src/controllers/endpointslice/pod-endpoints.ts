import type { Endpoint, Node, Pod, Service, ServicePort } from '@tinkernetes/api';
import { allContainers, isPodReady, isPodTerminal } from '@tinkernetes/apimachinery';

export interface ResolvedPort {
  name: string;
  port: number;
  protocol: 'TCP' | 'UDP' | 'SCTP';
  appProtocol?: string;
}

/** A Service's port as this Pod has it: named target ports are looked up in the Pod; undefined: it has none of that name. */
export function resolvePort(pod: Pod, servicePort: ServicePort): ResolvedPort | undefined {
  const { name = '', protocol = 'TCP', targetPort = servicePort.port, appProtocol } = servicePort;
  const port =
    typeof targetPort === 'number'
      ? targetPort
      : allContainers(pod.spec)
          .flatMap((c) => c.ports ?? [])
          .find((p) => p.name === targetPort && (p.protocol ?? 'TCP') === protocol)?.containerPort;
  return port === undefined ? undefined : { name, port, protocol, ...(appProtocol ? { appProtocol } : {}) };
}

export const resolvePorts = (pod: Pod, service: Service): ResolvedPort[] =>
  (service.spec.ports ?? []).flatMap((p) => resolvePort(pod, p) ?? []);

/** Whether a Pod stands behind a Service at all: it has an address and has not ended. */
export function isEndpointPod(pod: Pod, { includeTerminating }: { includeTerminating: boolean }): boolean {
  if (isPodTerminal(pod) || !pod.status?.podIP) return false;
  return includeTerminating || !pod.metadata.deletionTimestamp;
}

/** `hostname` is published for Pods of the Service's own subdomain: `web-0.nginx.default.svc`. */
export const publishesHostname = (pod: Pod, service: Service): boolean =>
  Boolean(pod.spec.hostname) &&
  pod.spec.subdomain === service.metadata.name &&
  pod.metadata.namespace === service.metadata.namespace;

/** Source: k8s.io/endpointslice podToEndpoint. */
export function podToEndpoint(pod: Pod, service: Service, node: Node | undefined): Endpoint {
  const serving = isPodReady(pod);
  const terminating = Boolean(pod.metadata.deletionTimestamp);
  const zone = node?.metadata.labels?.['topology.kubernetes.io/zone'];
  return {
    addresses: addressesOf(pod, 'IPv4'),
    conditions: {
      ready: service.spec.publishNotReadyAddresses || (serving && !terminating),
      serving,
      terminating,
    },
    ...(publishesHostname(pod, service) ? { hostname: pod.spec.hostname } : {}),
    nodeName: pod.spec.nodeName,
    targetRef: {
      kind: 'Pod',
      namespace: pod.metadata.namespace,
      name: pod.metadata.name,
      uid: pod.metadata.uid,
    },
    ...(zone ? { zone } : {}),
  };
}

const addressesOf = (pod: Pod, family: 'IPv4' | 'IPv6'): string[] =>
  (pod.status?.podIPs ?? [{ ip: pod.status?.podIP ?? '' }])
    .map((p) => p.ip)
    .filter((ip) => (ip.includes(':') ? 'IPv6' : 'IPv4') === family);

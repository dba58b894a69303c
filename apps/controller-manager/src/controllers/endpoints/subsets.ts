import type { EndpointAddress, EndpointPort, EndpointSubset, Pod, Service } from '@tinkernetes/api';
import { isPodReady } from '@tinkernetes/apimachinery';
import { isEndpointPod, publishesHostname, resolvePorts } from '../endpointslice/pod-endpoints';

/** Endpoints objects hold no more addresses than this; EndpointSlices have the rest. */
export const maxAddresses = 1000;

export interface Subsets {
  subsets: EndpointSubset[];
  /** Some addresses were left out. */
  truncated: boolean;
}

/**
 * A Service's endpoints in the old form: one subset for all ports that the same Pods serve.
 * Source: k8s.io/kubernetes/pkg/controller/endpoint, k8s.io/kubernetes/pkg/api/v1/endpoints RepackSubsets.
 */
export function subsetsOf(service: Service, pods: readonly Pod[]): Subsets {
  const tolerateUnready = service.spec.publishNotReadyAddresses ?? false;
  const members = pods.filter((pod) => isEndpointPod(pod, { includeTerminating: tolerateUnready }));
  const { kept, truncated } = limit(members);
  const byPort = new Map<string, { port?: EndpointPort; members: Pod[] }>();
  const isWithoutPorts = (service.spec.ports?.length ?? 0) === 0;
  for (const pod of kept) {
    const ports = resolvePorts(pod, service).map(({ name, ...port }) => ({
      ...(name ? { name } : {}),
      ...port,
    }));
    // A headless Service without ports still names its Pods.
    for (const port of isWithoutPorts ? [undefined] : ports) {
      const key = JSON.stringify(port ?? null);
      const entry = byPort.get(key) ?? { port, members: [] };
      entry.members.push(pod);
      byPort.set(key, entry);
    }
  }
  const groups = new Map<string, { ports: EndpointPort[]; members: readonly Pod[] }>();
  for (const [, { port, members }] of [...byPort].sort(([a], [b]) => a.localeCompare(b))) {
    const key = members.map(({ metadata }) => metadata.name).join();
    const group = groups.get(key) ?? { ports: [], members };
    if (port) group.ports.push(port);
    groups.set(key, group);
  }
  const addresses = (pods: readonly Pod[]) => pods.map((pod) => addressOf(pod, service)).sort(byIp);
  const subsets = [...groups.values()].map(({ ports, members: those }) => {
    const ready = addresses(those.filter((pod) => tolerateUnready || isPodReady(pod)));
    const notReady = addresses(those.filter((pod) => !tolerateUnready && !isPodReady(pod)));
    return {
      ...(ready.length > 0 ? { addresses: ready } : {}),
      ...(notReady.length > 0 ? { notReadyAddresses: notReady } : {}),
      ...(ports.length > 0 ? { ports } : {}),
    };
  });
  return { subsets, truncated };
}

/** Ready Pods are kept before others. */
function limit(pods: readonly Pod[]): { kept: readonly Pod[]; truncated: boolean } {
  if (pods.length <= maxAddresses) return { kept: pods, truncated: false };
  const sorted = [...pods].sort((a, b) => Number(isPodReady(b)) - Number(isPodReady(a)));
  return { kept: sorted.slice(0, maxAddresses), truncated: true };
}

function addressOf(pod: Pod, service: Service): EndpointAddress {
  return {
    ip: pod.status?.podIP ?? '',
    ...(publishesHostname(pod, service) ? { hostname: pod.spec.hostname } : {}),
    nodeName: pod.spec.nodeName,
    targetRef: {
      kind: 'Pod',
      namespace: pod.metadata.namespace,
      name: pod.metadata.name,
      uid: pod.metadata.uid,
    },
  };
}

const byIp = (a: EndpointAddress, b: EndpointAddress): number => (a.ip < b.ip ? -1 : a.ip > b.ip ? 1 : 0);

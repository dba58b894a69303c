import type { EndpointAddress, EndpointSubset, Pod, Service } from '@tinkernetes/api';
import { isPodReady } from '@tinkernetes/apimachinery';
import { isEndpointPod, publishesHostname, resolvePorts } from '../endpointslice/pod-endpoints';

/** Endpoints objects hold no more addresses than this; EndpointSlices have the rest. */
export const maxAddresses = 1000;

export interface Subsets {
  subsets: EndpointSubset[];
  /** Some addresses were left out. */
  truncated: boolean;
}

/** A Service's endpoints in the old form: one subset per set of ports. Source: k8s.io/kubernetes/pkg/controller/endpoint. */
export function subsetsOf(service: Service, pods: readonly Pod[]): Subsets {
  const tolerateUnready = service.spec.publishNotReadyAddresses ?? false;
  const members = pods.filter((pod) => isEndpointPod(pod, { includeTerminating: tolerateUnready }));
  const { kept, truncated } = limit(members);
  const groups = new Map<
    string,
    EndpointSubset & { addresses: EndpointAddress[]; notReadyAddresses: EndpointAddress[] }
  >();
  for (const pod of kept) {
    const ports = resolvePorts(pod, service).map(({ name, ...port }) => ({
      ...(name ? { name } : {}),
      ...port,
    }));
    // A headless Service without ports still names its Pods.
    if (ports.length === 0 && (service.spec.ports?.length ?? 0) > 0) continue;
    const key = JSON.stringify(ports);
    const group = groups.get(key) ?? { addresses: [], notReadyAddresses: [], ports };
    (tolerateUnready || isPodReady(pod) ? group.addresses : group.notReadyAddresses).push(
      addressOf(pod, service),
    );
    groups.set(key, group);
  }
  const subsets = [...groups]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([, { addresses, notReadyAddresses, ports }]) => ({
      ...(addresses.length > 0 ? { addresses: addresses.sort(byIp) } : {}),
      ...(notReadyAddresses.length > 0 ? { notReadyAddresses: notReadyAddresses.sort(byIp) } : {}),
      ...(ports && ports.length > 0 ? { ports } : {}),
    }));
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

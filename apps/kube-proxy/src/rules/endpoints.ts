import type { Endpoint, EndpointSlice, Service, ServicePort } from '@tinkernetes/api';

/** What a proxy knows of its own node. */
export interface Topology {
  nodeName: string;
  zone?: string;
}

export interface ServiceEndpoint {
  address: string;
  port: number;
  isLocal: boolean;
}

/** Who may be chosen for traffic that may go anywhere, and for traffic that must stay on this node. */
export interface EndpointChoice {
  cluster: readonly ServiceEndpoint[];
  local: readonly ServiceEndpoint[];
  /** Some node has an endpoint, though perhaps none that this one may use. */
  anywhere: boolean;
}

interface Candidate extends ServiceEndpoint {
  ready: boolean;
  serving: boolean;
  terminating: boolean;
  forZones: readonly string[];
  forNodes: readonly string[];
}

export type IPFamily = 'IPv4' | 'IPv6';

/**
 * The endpoints of one port that this node's proxy uses: ready ones; where there is none, those that end but still
 * serve; of these the ones that hints assign to this node or zone. Source: k8s.io/kubernetes/pkg/proxy/topology.go;
 * KEP-1669 (terminating endpoints), KEP-4444 (traffic distribution).
 */
export function chooseEndpoints(options: {
  servicePort: ServicePort;
  slices: readonly EndpointSlice[];
  family: IPFamily;
  topology: Topology;
}): EndpointChoice {
  const { servicePort, slices, family, topology } = options;
  const candidates = candidatesOf(servicePort, slices, { family, nodeName: topology.nodeName });
  const usable = readyOrServing(candidates);
  return {
    cluster: withHints(usable, topology),
    local: readyOrServing(candidates.filter((c) => c.isLocal)),
    anywhere: usable.length > 0,
  };
}

function readyOrServing(candidates: readonly Candidate[]): readonly Candidate[] {
  const ready = candidates.filter((c) => c.ready);
  return ready.length > 0 ? ready : candidates.filter((c) => c.serving && c.terminating);
}

function withHints(candidates: readonly Candidate[], { nodeName, zone }: Topology): readonly Candidate[] {
  if (candidates.every((c) => c.forNodes.length > 0)) {
    const here = candidates.filter((c) => c.forNodes.includes(nodeName));
    if (here.length > 0) return here;
  }
  // One endpoint without a hint, or a zone without any: hints are being changed, so all are used.
  if (zone && candidates.every((c) => c.forZones.length > 0)) {
    const here = candidates.filter((c) => c.forZones.includes(zone));
    if (here.length > 0) return here;
  }
  return candidates;
}

function candidatesOf(
  servicePort: ServicePort,
  slices: readonly EndpointSlice[],
  { family, nodeName }: { family: IPFamily; nodeName: string },
): Candidate[] {
  const byAddress = new Map<string, Candidate>();
  for (const slice of slices) {
    if (slice.addressType !== family) continue;
    const port = slice.ports?.find(
      (p) =>
        (p.name ?? '') === (servicePort.name ?? '') &&
        (p.protocol ?? 'TCP') === (servicePort.protocol ?? 'TCP'),
    )?.port;
    if (port === undefined) continue;
    for (const endpoint of slice.endpoints ?? []) {
      const candidate = toCandidate(endpoint, port, nodeName);
      // An endpoint that moves between slices may be in two of them for a moment.
      if (candidate) byAddress.set(`${candidate.address}:${candidate.port}`, candidate);
    }
  }
  return [...byAddress.values()];
}

function toCandidate(endpoint: Endpoint, port: number, nodeName: string): Candidate | undefined {
  const [address] = endpoint.addresses;
  if (!address) return undefined;
  const { ready = true, serving = ready, terminating = false } = endpoint.conditions ?? {};
  return {
    address,
    port,
    isLocal: endpoint.nodeName === nodeName,
    ready,
    serving,
    terminating,
    forZones: endpoint.hints?.forZones?.map((z) => z.name) ?? [],
    forNodes: endpoint.hints?.forNodes?.map((n) => n.name) ?? [],
  };
}

/** Services that a proxy has nothing to do for. */
export function isProxied(service: Service): boolean {
  const { clusterIP, type } = service.spec ?? {};
  if (type === 'ExternalName' || !clusterIP || clusterIP === 'None') return false;
  // Left to another proxy (KEP-2447).
  return service.metadata.labels?.['service.kubernetes.io/service-proxy-name'] === undefined;
}

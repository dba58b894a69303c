import type { Endpoint, EndpointHints, Node, Service } from '@tinkernetes/api';
import { isConditionTrue, Quantity } from '@tinkernetes/apimachinery';

const zoneLabel = 'topology.kubernetes.io/zone';
const modeAnnotations = ['service.kubernetes.io/topology-mode', 'service.kubernetes.io/topology-aware-hints'];
const controlPlaneLabels = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master'];
/** How much more than its share of traffic an endpoint may get. */
const overloadThreshold = 0.2;

export const wantsAutomaticHints = ({ metadata }: Service): boolean =>
  modeAnnotations.some((name) => ['Auto', 'auto'].includes(metadata.annotations?.[name] ?? ''));

/** By `spec.trafficDistribution`: where each endpoint is. Source: k8s.io/endpointslice/trafficdist. */
export function hintsByPreference({ spec }: Service, endpoint: Endpoint): EndpointHints | undefined {
  const forZones = endpoint.zone ? [{ name: endpoint.zone }] : undefined;
  switch (spec.trafficDistribution) {
    case 'PreferClose':
    case 'PreferSameZone':
      return forZones && { forZones };
    case 'PreferSameNode':
      if (!endpoint.nodeName) return undefined;
      return { forNodes: [{ name: endpoint.nodeName }], ...(forZones ? { forZones } : {}) };
    default:
      return undefined;
  }
}

/** What of a Node counts when endpoints are shared among zones. */
export const topologyOf = (node: Node): string =>
  JSON.stringify([zoneOf(node), cpuOf(node), isReady(node), isControlPlane(node)]);

const zoneOf = ({ metadata }: Node): string | undefined => metadata.labels?.[zoneLabel];
const cpuOf = ({ status }: Node): number =>
  Quantity.tryParse(status?.allocatable?.['cpu'])?.milliValue() ?? 0;
const isReady = ({ status }: Node): boolean => isConditionTrue(status?.conditions, 'Ready');
const isControlPlane = ({ metadata }: Node): boolean =>
  controlPlaneLabels.some((label) => metadata.labels?.[label] !== undefined);

export type HintsVerdict =
  { enabled: true; hints: ReadonlyMap<Endpoint, EndpointHints> } | { enabled: false; reason: string };

/**
 * `topology-mode: Auto`: zones get endpoints in proportion to their CPU, their own first, others' where they have too
 * few. Source: k8s.io/endpointslice/topologycache,
 * https://kubernetes.io/docs/concepts/services-networking/topology-aware-routing/
 */
export function automaticHints(endpoints: readonly Endpoint[], nodes: readonly Node[]): HintsVerdict {
  const refuse = (reason: string): HintsVerdict => ({ enabled: false, reason });
  const workers = nodes.filter((node) => isReady(node) && !isControlPlane(node));
  if (workers.length === 0 || workers.some((node) => !zoneOf(node) || cpuOf(node) === 0))
    return refuse(
      'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes',
    );
  const cpuByZone = new Map<string, number>();
  for (const node of workers) {
    const zone = zoneOf(node) ?? '';
    cpuByZone.set(zone, (cpuByZone.get(zone) ?? 0) + cpuOf(node));
  }
  if (cpuByZone.size < 2) return refuse('Nodes only ready in one zone');
  const ready = endpoints.filter(({ conditions }) => conditions?.ready !== false);
  if (ready.length < cpuByZone.size)
    return refuse(`Insufficient number of endpoints (${ready.length} endpoints, ${cpuByZone.size} zones)`);
  const total = [...cpuByZone.values()].reduce((sum, cpu) => sum + cpu, 0);
  const shares = [...cpuByZone]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([zone, cpu]) => {
      const desired = (ready.length * cpu) / total;
      return { zone, desired, minimum: Math.ceil(desired / (1 + overloadThreshold)) };
    });
  if (shares.reduce((sum, { minimum }) => sum + minimum, 0) > ready.length)
    return refuse('Minimum allocation of required endpoints exceeds overload threshold');
  return { enabled: true, hints: allocate(ready, shares) };
}

interface Share {
  zone: string;
  desired: number;
  minimum: number;
}

function allocate(endpoints: readonly Endpoint[], shares: readonly Share[]): Map<Endpoint, EndpointHints> {
  const byZone = new Map<string, Endpoint[]>(shares.map(({ zone }) => [zone, []]));
  const homeless: Endpoint[] = [];
  for (const endpoint of endpoints) (byZone.get(endpoint.zone ?? '') ?? homeless).push(endpoint);
  const lacking = ({ zone, minimum }: Share) => minimum - (byZone.get(zone)?.length ?? 0);
  const surplus = ({ zone, desired }: Share) => (byZone.get(zone)?.length ?? 0) - desired;
  for (const share of shares) {
    while (lacking(share) > 0) {
      const giver = [...shares]
        .filter((other) => lacking(other) < 0)
        .sort((a, b) => surplus(b) - surplus(a))[0];
      const given = homeless.pop() ?? byZone.get(giver?.zone ?? '')?.pop();
      if (!given) break;
      byZone.get(share.zone)?.push(given);
    }
  }
  // What is in no zone that counts goes where it is needed most.
  for (const endpoint of homeless) {
    const [neediest] = [...shares].sort((a, b) => surplus(a) - surplus(b));
    byZone.get(neediest?.zone ?? '')?.push(endpoint);
  }
  return new Map(
    [...byZone].flatMap(([zone, members]) =>
      members.map((endpoint) => [endpoint, { forZones: [{ name: zone }] }] as const),
    ),
  );
}

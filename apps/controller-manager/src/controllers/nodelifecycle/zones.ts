import type { Node } from '@tinkernetes/api';

export type ZoneState = 'Normal' | 'PartialDisruption' | 'FullDisruption';

export interface ZoneLimits {
  /** Share of nodes that are not ready from which a zone counts as unhealthy. */
  unhealthyThreshold: number;
  /** Nodes per second. */
  rate: number;
  secondaryRate: number;
  largeClusterSize: number;
}

export interface ZoneHealth {
  nodes: number;
  /** How many of them are not ready. */
  down: number;
}

const excluded = 'node.kubernetes.io/exclude-disruption';

export const zoneOf = ({ metadata }: Node): string =>
  `${metadata.labels?.['topology.kubernetes.io/region'] ?? ''}:${metadata.labels?.['topology.kubernetes.io/zone'] ?? ''}`;

/** The zones' health; nodes that carry the label `node.kubernetes.io/exclude-disruption` do not count. */
export function healthOfZones(
  nodes: readonly Node[],
  isDown: (node: Node) => boolean,
): Map<string, ZoneHealth> {
  const zones = new Map<string, ZoneHealth>();
  for (const node of nodes) {
    if (node.metadata.labels?.[excluded] !== undefined) continue;
    const zone = zones.get(zoneOf(node)) ?? { nodes: 0, down: 0 };
    zone.nodes++;
    if (isDown(node)) zone.down++;
    zones.set(zoneOf(node), zone);
  }
  return zones;
}

/** Source: nodelifecycle ComputeZoneState: full when no node is ready; partial from the threshold on, with more than two down. */
export function zoneState(
  { nodes, down }: ZoneHealth,
  { unhealthyThreshold }: Pick<ZoneLimits, 'unhealthyThreshold'>,
): ZoneState {
  if (down > 0 && down === nodes) return 'FullDisruption';
  return down > 2 && down / nodes >= unhealthyThreshold ? 'PartialDisruption' : 'Normal';
}

/** More likely this process is cut off than all nodes are dead. */
export const areAllDown = (zones: ReadonlyMap<string, ZoneHealth>): boolean =>
  zones.size > 0 && [...zones.values()].every(({ nodes, down }) => down === nodes);

/** How many nodes a second may be marked for eviction in each zone: none at all where all zones are fully down. */
export function evictionRates(
  zones: ReadonlyMap<string, ZoneHealth>,
  limits: ZoneLimits,
): Map<string, number> {
  const allDown = areAllDown(zones);
  return new Map(
    [...zones].map(([name, zone]) => {
      if (allDown) return [name, 0];
      if (zoneState(zone, limits) === 'PartialDisruption')
        return [name, zone.nodes > limits.largeClusterSize ? limits.secondaryRate : 0];
      return [name, limits.rate];
    }),
  );
}

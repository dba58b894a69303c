import type { Node } from '@tinkernetes/api';
import { isConditionTrue } from '@tinkernetes/apimachinery';

export type ZoneState = 'Normal' | 'PartialDisruption' | 'FullDisruption';

export interface ZoneLimits {
  /** Share of nodes that are not ready from which a zone counts as unhealthy. */
  unhealthyThreshold: number;
  /** Nodes per second. */
  rate: number;
  secondaryRate: number;
  largeClusterSize: number;
}

export const zoneOf = ({ metadata }: Node): string =>
  `${metadata.labels?.['topology.kubernetes.io/region'] ?? ''}:${metadata.labels?.['topology.kubernetes.io/zone'] ?? ''}`;

/** Source: nodelifecycle ComputeZoneState: full when no node is ready; partial from the threshold on, with more than two down. */
export function zoneState(
  nodes: readonly Node[],
  { unhealthyThreshold }: Pick<ZoneLimits, 'unhealthyThreshold'>,
): ZoneState {
  const ready = nodes.filter((n) => isConditionTrue(n.status?.conditions, 'Ready')).length;
  const down = nodes.length - ready;
  if (ready === 0 && down > 0) return 'FullDisruption';
  return down > 2 && down / nodes.length >= unhealthyThreshold ? 'PartialDisruption' : 'Normal';
}

/**
 * How many nodes a second may be marked for eviction in each zone. Where all zones are fully down nothing is evicted:
 * more likely this process is cut off than all nodes are dead.
 */
export function evictionRates(
  zones: ReadonlyMap<string, readonly Node[]>,
  limits: ZoneLimits,
): Map<string, number> {
  const states = new Map([...zones].map(([zone, nodes]) => [zone, zoneState(nodes, limits)]));
  const allDown = states.size > 0 && [...states.values()].every((state) => state === 'FullDisruption');
  return new Map(
    [...zones].map(([zone, nodes]) => {
      const state = states.get(zone);
      if (allDown) return [zone, 0];
      if (state === 'PartialDisruption')
        return [zone, nodes.length > limits.largeClusterSize ? limits.secondaryRate : 0];
      return [zone, limits.rate];
    }),
  );
}

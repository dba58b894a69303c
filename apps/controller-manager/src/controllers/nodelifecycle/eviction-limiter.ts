import type { Node } from '@tinkernetes/api';
import type { Metrics } from '@tinkernetes/component-base';
import { areAllDown, evictionRates, zoneOf, type ZoneHealth, type ZoneLimits } from './zones';

/** Decides which nodes may be marked for eviction, and when: so many a second in each zone, by the zone's health. */
export class EvictionLimiter {
  private rates = new Map<string, number>();
  private readonly nextMs = new Map<string, number>();
  private isHalted = false;
  private readonly evictions;
  private readonly sizes;
  private readonly healths;
  private readonly unhealthy;

  constructor(
    private readonly limits: ZoneLimits,
    metrics: Metrics,
  ) {
    this.evictions = metrics.counter(
      'node_collector_evictions_total',
      'Number of Node evictions that happened since current instance of NodeController started.',
      ['zone'],
    );
    this.sizes = metrics.gauge(
      'node_collector_zone_size',
      'Gauge measuring number of registered Nodes per zones.',
      ['zone'],
    );
    this.healths = metrics.gauge(
      'node_collector_zone_health',
      'Gauge measuring percentage of healthy nodes per zone.',
      ['zone'],
    );
    this.unhealthy = metrics.gauge(
      'node_collector_unhealthy_nodes_in_zone',
      'Gauge measuring number of not Ready Nodes per zones.',
      ['zone'],
    );
  }

  /** All nodes of all zones are down: nothing is evicted, and what was marked is not any more. */
  get allDown(): boolean {
    return this.isHalted;
  }

  /** Takes note of how the zones are now. True when nodes are back after all were down. */
  update(zones: ReadonlyMap<string, ZoneHealth>): boolean {
    for (const zone of this.rates.keys()) if (!zones.has(zone)) this.tell(zone, { nodes: 0, down: 0 });
    for (const [zone, health] of zones) this.tell(zone, health);
    this.rates = evictionRates(zones, this.limits);
    const wasHalted = this.isHalted;
    this.isHalted = areAllDown(zones);
    return wasHalted && !this.isHalted;
  }

  /** Takes one of the zone's turns, if there is one now. */
  mayEvict(node: Node, now: number): boolean {
    const zone = zoneOf(node);
    const rate = this.rates.get(zone);
    if (!rate || now < (this.nextMs.get(zone) ?? 0)) return false;
    this.nextMs.set(zone, now + 1000 / rate);
    this.evictions.inc({ zone });
    return true;
  }

  private tell(zone: string, { nodes, down }: ZoneHealth): void {
    this.sizes.set(nodes, { zone });
    this.unhealthy.set(down, { zone });
    this.healths.set(nodes === 0 ? 100 : (100 * (nodes - down)) / nodes, { zone });
  }
}

import type { Node } from '@tinkernetes/api';

const zoneOf = ({ metadata: { labels = {} } }: Node): string =>
  `${labels['topology.kubernetes.io/region'] ?? ''}:${labels['topology.kubernetes.io/zone'] ?? ''}`;

/** Names with the zones taking turns. Source: pkg/scheduler/backend/cache/node_tree.go. */
export function orderByZone(nodes: Iterable<Node>): string[] {
  const zones = new Map<string, string[]>();
  for (const node of nodes) {
    const zone = zoneOf(node);
    const names = zones.get(zone);
    if (names) names.push(node.metadata.name);
    else zones.set(zone, [node.metadata.name]);
  }
  const order: string[] = [];
  const lists = [...zones.values()];
  for (let turn = 0; lists.some((names) => turn < names.length); turn++) {
    for (const names of lists) {
      const name = names[turn];
      if (name !== undefined) order.push(name);
    }
  }
  return order;
}

import type { Node } from '@tinkernetes/api';
import { endpointAnnotation, type Route } from '@tinkernetes/vnet';

/** How the other nodes' Pods are reached: each node's pod ranges lie behind its overlay endpoint. Pure. */
export function nodeRoutes(nodes: readonly Node[], ownName: string): Route[] {
  return nodes.flatMap((node) => {
    const endpoint = node.metadata.annotations?.[endpointAnnotation];
    const gateway = node.status?.addresses?.find((a) => a.type === 'InternalIP')?.address;
    if (node.metadata.name === ownName || !endpoint || !gateway) return [];
    return podCIDRsOf(node).map((destination) => ({ destination, gateway, endpoint }));
  });
}

export function podCIDRsOf(node: Node | undefined): readonly string[] {
  const { podCIDR, podCIDRs } = node?.spec ?? {};
  return podCIDRs?.length ? podCIDRs : podCIDR ? [podCIDR] : [];
}

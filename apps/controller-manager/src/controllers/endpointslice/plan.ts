import type { DiscoveryV1EndpointPort, Endpoint, EndpointSlice } from '@tinkernetes/api';
import { sameStatus } from '../shared/same-status';

/** Upstream's --max-endpoints-per-slice. */
export const maxEndpointsPerSlice = 100;

export interface EndpointGroup {
  ports: DiscoveryV1EndpointPort[];
  endpoints: Endpoint[];
}

export interface SlicePlan {
  create: EndpointGroup[];
  update: EndpointSlice[];
  delete: EndpointSlice[];
}

const portsKey = (ports: readonly DiscoveryV1EndpointPort[]): string =>
  JSON.stringify(
    [...ports].map((p) => [p.name ?? '', p.protocol ?? 'TCP', p.port ?? 0, p.appProtocol ?? '']).sort(),
  );
const endpointKey = (endpoint: Endpoint): string => endpoint.targetRef?.uid ?? endpoint.addresses.join(',');

/**
 * How existing slices become the wanted endpoints with few writes: endpoints stay where they are; new ones fill up
 * slices that change anyway, then new slices; slices with nothing left, or with ports nobody has, go.
 * Groups are by port set: no slice mixes two. Source: k8s.io/endpointslice reconciler.
 */
export function planSlices(
  existing: readonly EndpointSlice[],
  wanted: readonly EndpointGroup[],
  labels: Record<string, string>,
): SlicePlan {
  const plan: SlicePlan = { create: [], update: [], delete: [] };
  const byPorts = new Map(wanted.map((group) => [portsKey(group.ports), group]));
  const slicesOf = new Map<string, EndpointSlice[]>();
  for (const slice of existing) {
    const key = portsKey(slice.ports ?? []);
    if (byPorts.has(key)) slicesOf.set(key, [...(slicesOf.get(key) ?? []), slice]);
    else plan.delete.push(slice);
  }
  for (const [key, group] of byPorts) planGroup(plan, { group, slices: slicesOf.get(key) ?? [], labels });
  return plan;
}

function planGroup(
  plan: SlicePlan,
  {
    group,
    slices,
    labels,
  }: { group: EndpointGroup; slices: readonly EndpointSlice[]; labels: Record<string, string> },
): void {
  const open = new Map(group.endpoints.map((e) => [endpointKey(e), e]));
  const kept = slices.map((slice) => {
    const endpoints = (slice.endpoints ?? []).flatMap((e) => {
      const next = open.get(endpointKey(e));
      open.delete(endpointKey(e));
      return next ?? [];
    });
    const changed = !sameStatus(
      { endpoints: slice.endpoints, labels: slice.metadata.labels },
      { endpoints, labels: { ...slice.metadata.labels, ...labels } },
    );
    return { slice, endpoints, changed };
  });
  const remaining = [...open.values()];
  // Slices that are written anyway take the new endpoints first; then any with room.
  for (const entry of [...kept].sort((a, b) => Number(b.changed) - Number(a.changed))) {
    const room = maxEndpointsPerSlice - entry.endpoints.length;
    if (remaining.length === 0 || room <= 0 || (entry.endpoints.length === 0 && !entry.changed)) continue;
    entry.endpoints.push(...remaining.splice(0, room));
    entry.changed = true;
  }
  for (const { slice, endpoints, changed } of kept) {
    // One slice stays even when it is empty: it says that the Service has no endpoints.
    const isLast = kept.length === 1 && remaining.length === 0;
    if (endpoints.length === 0 && !isLast) plan.delete.push(slice);
    else if (changed)
      plan.update.push({
        ...slice,
        endpoints,
        metadata: { ...slice.metadata, labels: { ...slice.metadata.labels, ...labels } },
      });
  }
  for (let i = 0; i < remaining.length; i += maxEndpointsPerSlice) {
    plan.create.push({ ports: group.ports, endpoints: remaining.slice(i, i + maxEndpointsPerSlice) });
  }
  if (kept.length === 0 && remaining.length === 0) plan.create.push({ ports: group.ports, endpoints: [] });
}

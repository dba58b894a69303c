import type { DiscoveryV1EndpointPort, Endpoint, EndpointSlice } from '@tinkernetes/api';
import { sameStatus } from '../shared/same-status';

/** Upstream's --max-endpoints-per-slice. */
export const maxEndpointsPerSlice = 100;

export interface EndpointGroup {
  ports: DiscoveryV1EndpointPort[];
  endpoints: Endpoint[];
}

/** What all slices of an object have. */
export interface SliceShape {
  /** These and no others: one that the Service has no more goes. */
  labels: Record<string, string>;
  /** Left out: slices keep theirs. */
  annotations?: Record<string, string>;
  maxEndpoints?: number;
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
  shape: SliceShape,
): SlicePlan {
  const plan: SlicePlan = { create: [], update: [], delete: [] };
  const byPorts = new Map(wanted.map((group) => [portsKey(group.ports), group]));
  const slicesOf = new Map<string, EndpointSlice[]>();
  for (const slice of existing) {
    const key = portsKey(slice.ports ?? []);
    if (byPorts.has(key)) slicesOf.set(key, [...(slicesOf.get(key) ?? []), slice]);
    else plan.delete.push(slice);
  }
  for (const [key, group] of byPorts) planGroup(plan, { group, slices: slicesOf.get(key) ?? [], shape });
  return plan;
}

function planGroup(
  plan: SlicePlan,
  {
    group,
    slices,
    shape: { labels, annotations, maxEndpoints = maxEndpointsPerSlice },
  }: { group: EndpointGroup; slices: readonly EndpointSlice[]; shape: SliceShape },
): void {
  const open = new Map(group.endpoints.map((e) => [endpointKey(e), e]));
  const kept = slices.map((slice) => {
    const endpoints = (slice.endpoints ?? []).flatMap((e) => {
      const next = open.get(endpointKey(e));
      open.delete(endpointKey(e));
      return next ?? [];
    });
    const metadata = { ...slice.metadata, labels, ...(annotations ? { annotations } : {}) };
    const changed = !sameStatus(
      { endpoints: slice.endpoints, labels: slice.metadata.labels, notes: slice.metadata.annotations },
      { endpoints, labels, notes: metadata.annotations },
    );
    return { slice: { ...slice, metadata }, endpoints, changed };
  });
  const remaining = [...open.values()];
  // Slices that are written anyway take the new endpoints first; then any with room.
  for (const entry of [...kept].sort((a, b) => Number(b.changed) - Number(a.changed))) {
    const room = maxEndpoints - entry.endpoints.length;
    if (remaining.length === 0 || room <= 0 || (entry.endpoints.length === 0 && !entry.changed)) continue;
    entry.endpoints.push(...remaining.splice(0, room));
    entry.changed = true;
  }
  for (const { slice, endpoints, changed } of kept) {
    // One slice stays even when it is empty: it says that the Service has no endpoints.
    const isLast = kept.length === 1 && remaining.length === 0;
    if (endpoints.length === 0 && !isLast) plan.delete.push(slice);
    else if (changed) plan.update.push({ ...slice, endpoints });
  }
  for (let i = 0; i < remaining.length; i += maxEndpoints) {
    plan.create.push({ ports: group.ports, endpoints: remaining.slice(i, i + maxEndpoints) });
  }
  if (kept.length === 0 && remaining.length === 0) plan.create.push({ ports: group.ports, endpoints: [] });
}
